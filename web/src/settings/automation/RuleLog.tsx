import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type DryRun, type LoggedRun, type Rule, type RuleDraft, tryRule, useRuns } from '../../data/team/automation.ts'
import { t } from '../../text/index.ts'
import { formatDateTime } from '../../ui/format/time.ts'
import { EmptyState } from '../../ui/page/EmptyState.tsx'
import { QueryBoundary } from '../../ui/page/PageBody.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import styles from './Automation.module.css'

/** The customer that an event was about, with a link. */
function About({ conversationId, leadId, name }: Pick<LoggedRun, 'conversationId' | 'leadId' | 'name'>) {
  const workspaceId = useWorkspaceId()
  const label = name ?? t.inbox.noName
  if (conversationId !== null) {
    return (
      <Link to="/w/$workspaceId/inbox/{-$conversationId}" params={{ workspaceId, conversationId }}>
        {label}
      </Link>
    )
  }
  if (leadId === null) return <span>{label}</span>
  return (
    <Link to="/w/$workspaceId/leads/$leadId" params={{ workspaceId, leadId }}>
      {label}
    </Link>
  )
}

interface DryRunResultsProps {
  draft: RuleDraft
  onError(error: Error): void
}

/** What the rule would do about the newest events. */
export function DryRunResults({ draft, onError }: DryRunResultsProps) {
  const workspaceId = useWorkspaceId()
  const texts = t.settings.automation
  const dryRun = useMutation({ mutationFn: () => tryRule(workspaceId, draft), onError })
  const acting = dryRun.data?.filter(({ acts }) => acts).length ?? 0
  return (
    <>
      <p className={styles.help}>{texts.dryRunHelp}</p>
      <Button variant="default" my={12} loading={dryRun.isPending} onClick={() => dryRun.mutate()}>
        {texts.tryIt}
      </Button>
      {dryRun.data?.length === 0 && <EmptyState title={texts.noEvents} />}
      {dryRun.data !== undefined && dryRun.data.length > 0 && (
        <>
          <p role="status">{texts.dryRunSum({ count: acting, of: dryRun.data.length })}</p>
          <ul className={styles.events} aria-label={texts.dryRun}>
            {dryRun.data.map((event) => (
              <li key={`${event.conversationId} ${event.leadId} ${event.at}`}>
                <time dateTime={event.at}>{formatDateTime(event.at)}</time>
                <About {...event} />
                <strong data-state={event.acts ? 'done' : undefined}>{dryRunText(event, draft)}</strong>
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  )
}

function dryRunText({ acts, unmet, isOfRule }: DryRun['events'][number], { actions, conditions }: RuleDraft): string {
  const texts = t.settings.automation
  if (acts) return texts.wouldDo({ actions: actions.map(({ kind }) => texts.kinds[kind]).join(', ') })
  if (unmet.length === 0 && isOfRule) return texts.reasons.of_rule
  return unmet.map((place) => conditionText(conditions, place)).join(' · ')
}

function conditionText(conditions: Rule['conditions'], place: number): string {
  const texts = t.settings.automation
  const field = conditions[place]?.field
  return texts.unmet({ n: place + 1, name: field === undefined ? '' : texts.fields[field] })
}

/** What a rule did, and some of the events that it left alone. */
export function RuleLog({ rule }: { rule: Rule }) {
  const workspaceId = useWorkspaceId()
  const texts = t.settings.automation
  const query = useRuns(workspaceId, rule.id)
  return (
    <QueryBoundary query={query}>
      {({ pages }) => {
        const runs = pages.flatMap((page) => page.runs)
        if (runs.length === 0) return <EmptyState title={texts.noRuns} />
        return (
          <>
            <ul className={styles.events} aria-label={texts.log}>
              {runs.map((run) => (
                <li key={run.id}>
                  <time dateTime={run.createdAt}>{formatDateTime(run.createdAt)}</time>
                  <About {...run} />
                  <strong data-state={run.state}>{runText(run, rule)}</strong>
                </li>
              ))}
            </ul>
            {query.hasNextPage && (
              <Button variant="default" mt={12} onClick={() => void query.fetchNextPage()}>
                {texts.older}
              </Button>
            )}
          </>
        )
      }}
    </QueryBoundary>
  )
}

function runText({ state, code, condition, dueAt, step }: LoggedRun, { conditions }: Rule): string {
  const texts = t.settings.automation
  if (state === 'done') return texts.states.done
  if (state === 'pending') {
    const continues = dueAt === null ? texts.states.pending : texts.continues({ at: formatDateTime(dueAt) })
    return code === null ? continues : `${texts.failed({ n: step + 1, why: reasonText(code) })} · ${continues}`
  }
  if (condition !== null) return conditionText(conditions, condition)
  const why = reasonText(code ?? '')
  return state === 'failed' ? texts.failed({ n: step + 1, why }) : why
}

function reasonText(code: string): string {
  const texts = t.settings.automation
  const reasons: Record<string, string> = texts.reasons
  if (code.startsWith('ANSWER_')) return texts.answered({ status: code.slice('ANSWER_'.length) })
  if (code.startsWith('REQUEST_')) {
    return texts.notReached({ why: code.slice('REQUEST_'.length).toLowerCase().replaceAll('_', ' ') })
  }
  return reasons[code] ?? code
}
