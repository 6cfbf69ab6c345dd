import { Button } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { cancelRun, isGoingOn, runsKey, type ScenarioResult, useScenarioRun } from '../data/team/scenarios.ts'
import { hasRole } from '../session/session.ts'
import { t } from '../text/index.ts'
import { formatDateTime, formatNumber } from '../ui/format/time.ts'
import { showError } from '../ui/overlay/toasts.tsx'
import { BackLink } from '../ui/page/BackLink.tsx'
import { PageBody, QueryBoundary } from '../ui/page/PageBody.tsx'
import { PageHeader } from '../ui/page/PageHeader.tsx'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import styles from './Scenarios.module.css'
import { countsText, RunStatusChip, VerdictChip } from './scenario-chips.tsx'

/** A run of scenarios: results as they come, with conversations and what has changed. */
export function RunPage() {
  const workspaceId = useWorkspaceId()
  const queries = useQueryClient()
  const { runId = '' } = useParams({ strict: false })
  const query = useScenarioRun(workspaceId, runId)
  const texts = t.scenarios
  const cancel = useMutation({
    mutationFn: () => cancelRun(workspaceId, runId),
    onSuccess: () => queries.invalidateQueries({ queryKey: runsKey(workspaceId) }),
    onError: showError,
  })
  const run = query.data?.run
  const mayCancel = run !== undefined && isGoingOn(run) && hasRole(workspaceId, 'admin')
  return (
    <>
      <PageHeader
        title={run?.agent ?? texts.title}
        before={<BackLink path="scenarios" label={texts.title} />}
        action={
          mayCancel && (
            <Button variant="default" loading={cancel.isPending} onClick={() => cancel.mutate()}>
              {texts.cancelRun}
            </Button>
          )
        }
      />
      <PageBody>
        <QueryBoundary query={query}>
          {({ run: shown, results }) => (
            <>
              <div className={styles.facts} role="status">
                <RunStatusChip status={shown.status} />
                <span>{countsText(shown)}</span>
                <span className={styles.muted}>{formatDateTime(shown.createdAt)}</span>
                {shown.hasInstructions && <span className={styles.muted}>{texts.ownInstructions}</span>}
              </div>
              {shown.status === 'waiting' && <p className={styles.notice}>{texts.waiting}</p>}
              {results.map((result) => (
                <Result key={result.name} result={result} />
              ))}
            </>
          )}
        </QueryBoundary>
      </PageBody>
    </>
  )
}

function Result({ result }: { result: ScenarioResult }) {
  const texts = t.scenarios
  const { name, verdict, ms, checks, entries, calls, difference } = result
  const isUnmet = verdict === 'failed' || verdict === 'error'
  const seconds = formatNumber(ms / 1000, { maximumFractionDigits: 1 })
  return (
    <details className={styles.result} {...(isUnmet && { open: true })}>
      <summary>
        <VerdictChip verdict={verdict} />
        <span>{name}</span>
        {ms > 0 && <span className={styles.muted}>{texts.seconds({ seconds })}</span>}
        {difference?.before != null && difference.before !== verdict && (
          <span className={styles.muted}>{texts.before({ verdict: texts.verdicts[difference.before] })}</span>
        )}
      </summary>
      <div className={styles.columns}>
        <div>
          <h2>{texts.conversation}</h2>
          <ol className={styles.lines}>
            {entries.map(({ atMs, from, kind, text }, n) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: lines of a finished conversation
              <li key={n}>
                <strong>{texts.parties[from]}</strong>{' '}
                <span className={styles.muted}>
                  {kind === 'message' ? '' : `${texts.kinds[kind]} · `}
                  {texts.seconds({ seconds: formatNumber(atMs / 1000, { maximumFractionDigits: 1 }) })}
                </span>
                <div className={styles.line} dir="auto">
                  {text}
                </div>
              </li>
            ))}
          </ol>
        </div>
        <div>
          <h2>{texts.expectations}</h2>
          <ul className={styles.lines}>
            {checks.map(({ check, passed, expected, actual }, n) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: checks of a finished scenario
              <li key={n} data-mark={passed ? undefined : '-'}>
                {passed ? '✓' : '✗'} <strong>{texts.checks[check]}</strong> <span dir="auto">{expected}</span>
                {!passed && <div className={styles.line}>{texts.found({ actual: actual || texts.nothing })}</div>}
              </li>
            ))}
          </ul>
          {difference !== null && difference.lines.length > 0 && (
            <>
              <h2>{texts.changed}</h2>
              <ol className={styles.lines}>
                {difference.lines.map(({ mark, text }, n) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: lines of a diff
                  <li key={n} data-mark={mark} className={styles.line} dir="auto">
                    {mark} {text}
                  </li>
                ))}
              </ol>
            </>
          )}
          {calls.length > 0 && (
            <>
              <h2>{texts.calls}</h2>
              <ol className={styles.lines}>
                {calls.map(({ tool, input, code }, n) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: calls of a finished scenario
                  <li key={n} data-mark={code === null ? undefined : '-'}>
                    <strong>{tool}</strong> {code} <span className={styles.muted}>{JSON.stringify(input)}</span>
                  </li>
                ))}
              </ol>
            </>
          )}
        </div>
      </div>
    </details>
  )
}
