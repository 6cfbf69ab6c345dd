import { Button } from '@mantine/core'
import { useConnections } from '../data/connections.ts'
import type { ApiKey } from '../data/keys.ts'
import { usePeopleLists } from '../data/people.ts'
import { type AuditEntry, useAudit } from '../data/team/audit.ts'
import { useVersions, type Version } from '../data/team/instructions.ts'
import { t } from '../text/index.ts'
import { formatDateTime, formatNumber } from '../ui/format/time.ts'
import { QueryBoundary } from '../ui/page/PageBody.tsx'
import { Section } from '../ui/page/Section.tsx'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import styles from './KeyHistory.module.css'

/** What the agent has worked under: its settings from the audit log, and the instructions for every agent and for it. */
export function KeyHistory({ apiKey: { id } }: { apiKey: ApiKey }) {
  const workspaceId = useWorkspaceId()
  const audit = useAudit(workspaceId, { target: `api-key:${id}` })
  const { data: forEvery } = useVersions(workspaceId, { keyId: null, connectionId: null })
  const { data: forKey } = useVersions(workspaceId, { keyId: id, connectionId: null })
  const { data: connections = [] } = useConnections(workspaceId)
  const nameOf = (connectionId: string) => connections.find((one) => one.id === connectionId)?.name ?? t.common.unknown
  const versions = [
    { of: t.instructions.everyAgent, list: forEvery?.versions ?? [] },
    { of: t.instructions.thisAgent, list: forKey?.versions ?? [] },
  ]
  return (
    <Section title={t.keys.history} help={t.keys.historyHelp}>
      <QueryBoundary query={audit} rows={3}>
        {({ pages }) => (
          <Changes
            changes={mergeChanges(
              pages.flatMap(({ entries }) => entries),
              versions,
              nameOf,
            )}
          />
        )}
      </QueryBoundary>
      {audit.hasNextPage && (
        <Button
          variant="default"
          size="compact-sm"
          loading={audit.isFetchingNextPage}
          onClick={() => void audit.fetchNextPage()}
        >
          {t.settings.audit.older}
        </Button>
      )}
    </Section>
  )
}

function Changes({ changes }: { changes: readonly Change[] }) {
  const { data: people = { members: [], keys: [], tokens: [] } } = usePeopleLists(useWorkspaceId())
  const names = new Map(Object.values(people).flatMap((list) => list.map(({ id, name }) => [id, name] as const)))
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be scrollable by keyboard
    <ol className={styles.changes} tabIndex={0}>
      {changes.map(({ id, at, actor, what, details }) => (
        <li key={id}>
          <strong>{what}</strong>
          {details.map((one) => (
            <p key={one}>{one}</p>
          ))}
          <p>
            {names.get(actor?.id ?? '') ?? otherActor(actor)} · <time dateTime={at}>{formatDateTime(at)}</time>
          </p>
        </li>
      ))}
    </ol>
  )
}

/** Who has no name here: the installation's own token, someone who has left, or the service. */
function otherActor(actor: Change['actor']): string {
  const { operator, former, service } = t.settings.audit
  return actor?.type === 'token' ? operator : actor?.type === 'user' ? former : service
}

/** Something that changed what an agent works under. */
interface Change {
  id: string
  at: string
  actor: { type: string; id: string | null } | null
  what: string
  /** One line for each setting. */
  details: string[]
}

type NameOf = (id: string) => string

/** Merges the changes of a key with the versions of the instructions that concern it, newest first. */
function mergeChanges(
  entries: readonly AuditEntry[],
  versions: readonly { of: string; list: readonly Version[] }[],
  nameOf: NameOf,
): Change[] {
  const ofKey = entries
    // Publications are among the versions, with their scope.
    .filter(({ action }) => action.startsWith('api-key.'))
    .map(({ id, at, actor, action, details }) => {
      const actions: Record<string, string> = t.settings.audit.actions
      const what = actions[action] ?? action
      return { id, at, actor, what: capital(what), details: detailsOf(details, nameOf) }
    })
  const published = versions.flatMap(({ of, list }) =>
    list.map(({ id, publishedAt, actor, version, note }) => ({
      id,
      at: publishedAt,
      actor,
      what: t.instructions.publishedFor({ n: formatNumber(version), who: of }),
      details: note === null ? [] : [note],
    })),
  )
  return [...ofKey, ...published].sort((a, b) => (a.at < b.at ? 1 : -1))
}

const capital = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`

function detailsOf(details: object | null, nameOf: NameOf): string[] {
  return Object.entries(details ?? {}).flatMap(([setting, change]) => {
    const names: Record<string, string> = t.keys.settingNames
    const { before, after } = change as { before: unknown; after: unknown }
    const values = { before: valueText(setting, before, nameOf), after: valueText(setting, after, nameOf) }
    return t.keys.changed({ setting: names[setting] ?? setting, ...values })
  })
}

function valueText(setting: string, value: unknown, nameOf: NameOf): string {
  if (value === null) return setting === 'approval' ? t.keys.approvalNone : t.keys.byDefault
  if (typeof value === 'boolean') return value ? t.common.yes : t.common.no
  if (Array.isArray(value)) return listText(setting, value.map(String), nameOf)
  if (setting === 'approval')
    return (value as { always?: unknown }).always === true ? t.keys.approvalAlways : t.keys.approvalSome
  return String(value)
}

function listText(setting: string, list: readonly string[], nameOf: NameOf): string {
  if (list.length === 0) return setting === 'connectionIds' ? t.common.all : t.common.none
  const scopes: Record<string, string> = t.keys.scopes
  if (setting === 'scopes') return list.map((one) => scopes[one] ?? one).join(', ')
  return list.map((one) => (setting === 'connectionIds' ? nameOf(one) : one)).join(', ')
}
