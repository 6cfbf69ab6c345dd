import { NumberInput, Switch } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useApiKeys } from '../../data/keys.ts'
import { isAway, setAway, useMemberList } from '../../data/team/members.ts'
import { changeRouting, type Routing } from '../../data/team/routing.ts'
import { membersKey, routingKey } from '../../data/workspace-updates.ts'
import { currentUser, hasRole } from '../../session/session.ts'
import { t } from '../../text/index.ts'
import { formatDateTime } from '../../ui/format/time.ts'
import { showError, showToast } from '../../ui/overlay/toasts.tsx'
import { Section } from '../../ui/page/Section.tsx'
import { type Column, Table } from '../../ui/page/Table.tsx'
import { useDraft } from '../../ui/use-draft.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { DraftButtons } from '../draft/WorkspaceDraft.tsx'
import styles from './Routing.module.css'

/** Somebody with a limit of open conversations: a member or an agent. */
interface Limited {
  id: string
  name: string
  isAgent: boolean
  awaySince: string | null
  awayUntil: string | null
}

/** Empty: no limit. */
type Limits = Record<string, number | ''>

/** Who is available, and how many open conversations people and agents get at most. */
export function PeopleSection({ routing }: { routing: Routing }) {
  const workspaceId = useWorkspaceId()
  const texts = t.settings.routing
  const queries = useQueryClient()
  const mayChange = hasRole(workspaceId, 'admin')
  const rows = useLimited(workspaceId)
  const draft = useDraft<Limits>(limitsOf(routing))
  const save = useMutation({
    mutationFn: () => changeRouting(workspaceId, changesOf(rows, draft.value)),
    onSuccess: (changed) => {
      queries.setQueryData(routingKey(workspaceId), changed)
      draft.reset(limitsOf(changed))
      showToast(t.settings.saved)
    },
    onError: showError,
  })
  const open = new Map([
    ...routing.people.map((one): [string, number] => [one.userId, one.open]),
    ...routing.agents.map((one): [string, number] => [one.keyId, one.open]),
  ])
  const columns: Column<Limited>[] = [
    { key: 'name', title: texts.person, cell: ({ name }) => name },
    { key: 'available', title: texts.available, cell: (row) => <Availability row={row} mayChange={mayChange} /> },
    {
      key: 'capacity',
      title: texts.capacity,
      cell: ({ id, name }) => (
        <NumberInput
          className={styles.limit}
          aria-label={texts.capacityOf({ name })}
          placeholder={texts.noLimit}
          min={1}
          max={1000}
          allowDecimal={false}
          value={draft.value[id] ?? ''}
          onChange={(value) => draft.set({ [id]: value === '' ? '' : Number(value) })}
          disabled={!mayChange}
        />
      ),
    },
    { key: 'open', title: texts.open, cell: ({ id }) => open.get(id) ?? '–', numeric: true, optional: true },
  ]
  const cancel = () => draft.reset(limitsOf(routing))
  return (
    <Section
      title={texts.people}
      help={texts.peopleHelp}
      submit={() => save.mutate()}
      footer={mayChange && <DraftButtons draft={{ isChanged: draft.isChanged, isSaving: save.isPending, cancel }} />}
    >
      <Table label={texts.people} rows={rows} keyOf={({ id }) => id} columns={columns} />
    </Section>
  )
}

/** Returns the members, then the agents that answer customers. */
function useLimited(workspaceId: string): Limited[] {
  const members = useMemberList(workspaceId)
  const { data: keys = [] } = useApiKeys(workspaceId)
  const agents = keys.filter(({ status, scopes }) => status === 'active' && scopes.includes('inbox.write'))
  return [
    ...members.map(({ userId: id, name, awaySince, awayUntil }) => ({
      id,
      name,
      isAgent: false,
      awaySince,
      awayUntil,
    })),
    ...agents.map(({ id, name }) => ({ id, name, isAgent: true, awaySince: null, awayUntil: null })),
  ]
}

const limitsOf = ({ people, agents }: Routing): Limits =>
  Object.fromEntries([
    ...people.map(({ userId, capacity }) => [userId, capacity]),
    ...agents.map(({ keyId, capacity }) => [keyId, capacity]),
  ])

function changesOf(rows: readonly Limited[], limits: Limits) {
  const limited = rows.flatMap(({ id, isAgent }) => {
    const capacity = limits[id] ?? ''
    return capacity === '' ? [] : [{ id, isAgent, capacity }]
  })
  return {
    people: limited.flatMap(({ id, isAgent, capacity }) => (isAgent ? [] : [{ userId: id, capacity }])),
    agents: limited.flatMap(({ id, isAgent, capacity }) => (isAgent ? [{ keyId: id, capacity }] : [])),
  }
}

function Availability({ row, mayChange }: AvailabilityProps) {
  const workspaceId = useWorkspaceId()
  const queries = useQueryClient()
  const { id, name, isAgent, awayUntil } = row
  if (isAgent) return t.settings.routing.agent
  const isOut = isAway(row)
  const change = (isAvailable: boolean) =>
    setAway(workspaceId, !isAvailable, { userId: id }).then(
      () => queries.invalidateQueries({ queryKey: membersKey(workspaceId) }),
      showError,
    )
  return (
    <Switch
      aria-label={t.settings.routing.availabilityOf({ name })}
      label={
        awayUntil === null || !isOut ? undefined : t.settings.routing.backAt({ moment: formatDateTime(awayUntil) })
      }
      checked={!isOut}
      onChange={(event) => void change(event.currentTarget.checked)}
      disabled={!mayChange && id !== currentUser().id}
    />
  )
}

interface AvailabilityProps {
  row: Limited
  mayChange: boolean
}
