import { Button } from '@mantine/core'
import { useConnections } from '../data/connections.ts'
import type { ApiKey } from '../data/keys.ts'
import { usePeopleLists } from '../data/people.ts'
import { useAudit } from '../data/team/audit.ts'
import { useVersions } from '../data/team/instructions.ts'
import { t } from '../text/index.ts'
import { formatDateTime } from '../ui/format/time.ts'
import { QueryBoundary } from '../ui/page/PageBody.tsx'
import { Section } from '../ui/page/Section.tsx'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import styles from './KeyHistory.module.css'
import { type Change, mergeChanges } from './key-history.ts'

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
