import { Button } from '@mantine/core'
import { IconRefresh } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { type RefObject, useEffect, useRef } from 'react'
import { type Check, useCheck, useCheckActions } from '../../data/connection/check.ts'
import type { Connection } from '../../data/connections.ts'
import { t } from '../../text/index.ts'
import { formatDateTime, timeAgo } from '../../ui/format/time.ts'
import { showError, showToast } from '../../ui/overlay/toasts.tsx'
import { QueryBoundary } from '../../ui/page/PageBody.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import styles from '../detail/detail.module.css'
import { Section } from '../parts/Section.tsx'
import own from './check.module.css'
import { StepList } from './StepList.tsx'
import { isInSetup, summaryOf } from './step-texts.ts'

/**
 * Steps of connecting: what the platform says about each, what to do, and where Parley can do it. For a connection in
 * setup this is the whole page; the report is stored, so that a person can leave and come back.
 */
export function CheckSection({ connection }: { connection: Connection }) {
  const workspaceId = useWorkspaceId()
  const query = useCheck(workspaceId, connection.id)
  const { run } = useCheckActions(workspaceId, connection.id)
  const check = useMutation({ mutationFn: run, onError: showError })
  const isNew = isInSetup(connection)
  const { setup } = t.connections
  useFirstCheck(isNew && query.data === null, check.mutate)
  useConnectedToast(connection)
  return (
    <Section
      title={isNew ? setup.setupTitle : setup.title}
      action={
        <Button
          variant="default"
          size="compact-sm"
          leftSection={<IconRefresh size={14} />}
          onClick={() => check.mutate()}
          loading={check.isPending}
        >
          {setup.run}
        </Button>
      }
    >
      <p className={styles.muted}>{isNew ? setup.setupHelp : setup.help}</p>
      <QueryBoundary query={query} rows={4}>
        {(report) => (
          <>
            <Summary report={report} isChecking={check.isPending} />
            {report !== null && <StepList connection={connection} report={report} check={check.mutateAsync} />}
          </>
        )}
      </QueryBoundary>
    </Section>
  )
}

/** Says how far the connection is; read out when it changes. */
function Summary({ report, isChecking }: { report: Check | null; isChecking: boolean }) {
  const { checking, checkedAt } = t.connections.setup
  const summary = useRef<HTMLParagraphElement>(null)
  useFocusAfterStep(summary, report?.checkedAt)
  return (
    <>
      <p className={own.summary} role="status" ref={summary} tabIndex={-1}>
        {isChecking ? checking : report !== null && summaryOf(report)}
      </p>
      {report !== null && (
        <p className={styles.muted} title={formatDateTime(report.checkedAt)}>
          {checkedAt({ when: timeAgo(report.checkedAt) })}
        </p>
      )}
    </>
  )
}

/** Moves the focus here when the form that had it is gone, because its step works now. */
function useFocusAfterStep(target: RefObject<HTMLElement | null>, checkedAt: string | undefined): void {
  const before = useRef(checkedAt)
  useEffect(() => {
    const isLater = before.current !== undefined && before.current !== checkedAt
    before.current = checkedAt
    if (isLater && document.activeElement === document.body) target.current?.focus()
  }, [target, checkedAt])
}

/** Checks a new connection once, when its page opens. */
function useFirstCheck(isUnchecked: boolean, check: () => void): void {
  const isDone = useRef(false)
  useEffect(() => {
    if (!isUnchecked || isDone.current) return
    isDone.current = true
    check()
  }, [isUnchecked, check])
}

/** Says so when the last step of the setup worked. */
function useConnectedToast(connection: Connection): void {
  const wasNew = useRef(isInSetup(connection))
  useEffect(() => {
    if (wasNew.current && connection.state === 'active') {
      showToast(t.connections.setup.connected({ name: connection.name }))
    }
    wasNew.current = isInSetup(connection)
  }, [connection])
}
