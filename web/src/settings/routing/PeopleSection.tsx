import { NumberInput, Switch } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useApiKeys } from '../../data/keys.ts'
import { isAway, setAway, useMemberList } from '../../data/team/members.ts'
import { changeRouting, type Routing } from '../../data/team/routing.ts'
import { membersKey, routingKey } from '../../data/workspace-updates.ts'
import { currentUser } from '../../session/session.ts'
import { t } from '../../text/index.ts'
import { formatDateTime } from '../../ui/format/time.ts'
import { showError, showToast } from '../../ui/overlay/toasts.tsx'
import { type Column, Table } from '../../ui/page/Table.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { DraftSection, useSectionDraft } from '../draft/DraftSection.tsx'
import styles from './Routing.module.css'

/** Someone with a limit of open conversations: a member or an agent. */
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
  const rows = useLimited(workspaceId)
  const draft = useSectionDraft<Limits>(limitsOf(routing), async (limits) => {
    const changed = await changeRouting(workspaceId, changesOf(rows, limits))
    queries.setQueryData(routingKey(workspaceId), changed)
    showToast(t.settings.saved)
    return limitsOf(changed)
  })
  const { mayChange } = draft
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
  return (
    <DraftSection title={texts.people} help={texts.peopleHelp} draft={draft}>
      <Table label={texts.people} rows={rows} keyOf={({ id }) => id} columns={columns} />
    </DraftSection>
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

function Availability({ row, mayChange }: { row: Limited; mayChange: boolean }) {
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
