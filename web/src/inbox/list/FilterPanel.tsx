import { Select, Switch } from '@mantine/core'
import { useConnections } from '../../data/connections.ts'
import { useLabelsById } from '../../data/labels.ts'
import { useMemberList } from '../../data/team/members.ts'
import { useTeamList } from '../../data/team/routing.ts'
import { t } from '../../text/index.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { type FilterBy, type InboxSearch, readSearch, statuses } from './filters.ts'
import styles from './ListPane.module.css'
import { SavedFilters } from './SavedFilters.tsx'

export interface FilterPanelProps {
  search: InboxSearch
  filterBy: FilterBy
}

/** All filters, sort orders and saved filters. */
export function FilterPanel({ search, filterBy }: FilterPanelProps) {
  const workspaceId = useWorkspaceId()
  const labels = useLabelsById(workspaceId)
  const members = useMemberList(workspaceId)
  const teams = useTeamList(workspaceId)
  const { data: connections = [] } = useConnections(workspaceId)
  const { filters, sorts } = t.inbox
  const named = (all: Iterable<{ id: string; name: string }>) =>
    [...all].map(({ id, name }) => ({ value: id, label: name }))
  const set = (field: keyof InboxSearch, value: string | boolean | null) =>
    filterBy((before) => readSearch({ ...before, [field]: value === null || value === false ? undefined : value }))
  const choice = (field: keyof InboxSearch, label: string, data: { value: string; label: string }[]) => (
    <Select
      size="xs"
      label={label}
      data={data}
      value={(search[field] as string | undefined) ?? null}
      placeholder={filters.any}
      clearable
      onChange={(value) => set(field, value)}
      comboboxProps={{ withinPortal: false }}
    />
  )
  return (
    <div className={styles.panel}>
      <Select
        size="xs"
        label={filters.sort}
        data={Object.entries(sorts).map(([value, label]) => ({ value, label }))}
        value={search.sort ?? 'recent'}
        allowDeselect={false}
        onChange={(value) => set('sort', value)}
        comboboxProps={{ withinPortal: false }}
      />
      <Select
        size="xs"
        label={filters.status}
        data={[...statuses, 'any' as const].map((value) => ({ value, label: t.inbox.statuses[value] }))}
        value={search.status ?? 'open'}
        allowDeselect={false}
        onChange={(value) => set('status', value)}
        comboboxProps={{ withinPortal: false }}
      />
      {choice('owner', filters.owner, [
        { value: 'human', label: filters.people },
        { value: 'agent', label: filters.agents },
      ])}
      {choice('assignedTo', filters.assignedTo, [
        { value: 'me', label: filters.me },
        { value: 'none', label: filters.nobody },
        ...members.map(({ userId, name }) => ({ value: userId, label: name })),
      ])}
      {connections.length > 1 && choice('connectionId', filters.connection, named(connections))}
      {teams.length > 0 && choice('teamId', filters.team, [{ value: 'none', label: filters.noTeam }, ...named(teams)])}
      {labels.size > 0 && choice('labelId', filters.label, named(labels.values()))}
      <Switch
        size="xs"
        label={filters.unread}
        checked={search.unread === true}
        onChange={(event) => set('unread', event.currentTarget.checked)}
      />
      <Switch
        size="xs"
        label={filters.unanswered}
        checked={search.unanswered === true}
        onChange={(event) => set('unanswered', event.currentTarget.checked)}
      />
      <SavedFilters search={search} filterBy={filterBy} />
    </div>
  )
}
