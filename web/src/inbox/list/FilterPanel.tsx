import { Popover, Select, Switch } from '@mantine/core'
import { useConnections } from '../../data/connections.ts'
import { priorities } from '../../data/inbox/types.ts'
import { useLabelsById } from '../../data/labels.ts'
import { useMemberList } from '../../data/team/members.ts'
import { useTeamList } from '../../data/team/routing.ts'
import { t } from '../../text/index.ts'
import { DropdownTarget, useDropdownState } from '../../ui/overlay/DropdownMenu.tsx'
import type { Dropdown } from '../../ui/overlay/dropdown.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { type FilterProps, type InboxSearch, readSearch, statuses } from './filters.ts'
import styles from './ListPane.module.css'
import { SavedFilters } from './SavedFilters.tsx'

export default function FilterPanel({ dropdown, ...filter }: FilterProps & { dropdown: Dropdown }) {
  const { isOpen, ...rest } = useDropdownState(dropdown)
  return (
    <Popover {...rest} opened={isOpen} position="bottom-end" width={300} shadow="md" trapFocus>
      <Popover.Target>
        <DropdownTarget dropdown={dropdown} />
      </Popover.Target>
      <Popover.Dropdown aria-label={t.inbox.filter}>
        <Filters {...filter} />
      </Popover.Dropdown>
    </Popover>
  )
}

const inPanel = { size: 'xs', comboboxProps: { withinPortal: false } } as const

/** All filters, sort orders and saved filters. */
function Filters({ search, filterBy }: FilterProps) {
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
      {...inPanel}
      label={label}
      data={data}
      value={(search[field] as string | undefined) ?? null}
      placeholder={filters.any}
      clearable
      onChange={(value) => set(field, value)}
    />
  )
  return (
    <div className={styles.panel}>
      <Select
        {...inPanel}
        label={filters.sort}
        data={Object.entries(sorts).map(([value, label]) => ({ value, label }))}
        value={search.sort ?? 'recent'}
        allowDeselect={false}
        onChange={(value) => set('sort', value)}
      />
      <Select
        {...inPanel}
        label={filters.status}
        data={[...statuses, 'any' as const].map((value) => ({ value, label: t.inbox.statuses[value] }))}
        value={search.status ?? 'open'}
        allowDeselect={false}
        onChange={(value) => set('status', value)}
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
      {choice(
        'priority',
        filters.priority,
        priorities.toReversed().map((value) => ({ value, label: t.inbox.priorities[value] })),
      )}
      {teams.length > 0 && choice('teamId', filters.team, [{ value: 'none', label: filters.noTeam }, ...named(teams)])}
      {labels.size > 0 && choice('labelId', filters.label, named(labels.values()))}
      {(['unread', 'unanswered', 'overdue'] as const).map((field) => (
        <Switch
          key={field}
          size="xs"
          label={filters[field]}
          checked={search[field] === true}
          onChange={(event) => set(field, event.currentTarget.checked)}
        />
      ))}
      <SavedFilters search={search} filterBy={filterBy} />
    </div>
  )
}
