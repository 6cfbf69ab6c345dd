import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { type Sequence, type SequenceRun, useSequenceActions, useSequenceRuns } from '../data/outreach/sequences.ts'
import { codeText, runText } from '../shared/sequences/run-texts.ts'
import { t } from '../text/index.ts'
import { formatDateTime } from '../ui/format/time.ts'
import { showError } from '../ui/overlay/toasts.tsx'
import { EmptyState } from '../ui/page/EmptyState.tsx'
import { QueryBoundary } from '../ui/page/PageBody.tsx'
import { Segments } from '../ui/page/Segments.tsx'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import styles from './Sequences.module.css'

const states = ['all', 'active', 'ended'] as const

/** The leads of a sequence, newest first, and what became of each step. */
export function RunLog({ sequence }: { sequence: Sequence }) {
  const workspaceId = useWorkspaceId()
  const texts = t.sequences
  const [state, setState] = useState<(typeof states)[number]>('all')
  const query = useSequenceRuns(workspaceId, sequence.id, state === 'all' ? null : state)
  const { stop } = useSequenceActions(workspaceId)
  return (
    <>
      <Segments
        label={texts.show}
        data={states.map((value) => ({ value, label: texts.states[value] }))}
        value={state}
        onChange={setState}
      />
      <QueryBoundary query={query}>
        {({ pages }) => {
          const runs = pages.flatMap((page) => page.runs)
          if (runs.length === 0) return <EmptyState title={texts.noRuns} />
          return (
            <ul className={styles.runs} aria-label={texts.leads}>
              {runs.map((run) => (
                <li key={run.id} className={styles.run}>
                  <Link to="/w/$workspaceId/leads/$leadId" params={{ workspaceId, leadId: run.lead.id }}>
                    {run.lead.name ?? texts.leadGone}
                  </Link>
                  <span>{runText(run)}</span>
                  <span className={styles.help}>{stepsText(run)}</span>
                  <span className={styles.help}>
                    {texts.entries[run.entry]} · {formatDateTime(run.createdAt)}
                  </span>
                  {run.state === 'active' && (
                    <Button
                      variant="default"
                      size="compact-sm"
                      aria-label={texts.stopOf({ name: run.lead.name ?? '' })}
                      onClick={() => void stop(run.id).catch(showError)}
                    >
                      {texts.stop}
                    </Button>
                  )}
                </li>
              ))}
            </ul>
          )
        }}
      </QueryBoundary>
      {query.hasNextPage && (
        <Button variant="default" mt={12} loading={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
          {t.settings.automation.older}
        </Button>
      )}
    </>
  )
}

/** Such as `1 sent, 2 skipped: the 24-hour window is closed`. */
const stepsText = ({ done }: SequenceRun): string =>
  done
    .map(({ step, state, code }) => {
      const words = `${step + 1} ${t.sequences.outcomes[state]}`
      return code === null ? words : `${words}: ${codeText(code)}`
    })
    .join(', ')
