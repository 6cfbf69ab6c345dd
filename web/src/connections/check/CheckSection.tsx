import { Button } from '@mantine/core'
import { IconAlertTriangle, IconCircleCheck, IconCircleDashed, IconCircleX, IconRefresh } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { type ReactNode, type RefObject, useEffect, useRef } from 'react'
import { type Check, type CheckStep, useCheck, useCheckActions } from '../../data/connection/check.ts'
import type { Connection } from '../../data/connections.ts'
import { t } from '../../text/index.ts'
import { formatDateTime, timeAgo } from '../../ui/format/time.ts'
import { showError, showToast } from '../../ui/overlay/toasts.tsx'
import { QueryBoundary } from '../../ui/page/PageBody.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import styles from '../detail/detail.module.css'
import { Section } from '../parts/Section.tsx'
import own from './check.module.css'
import { AccessForm, RegisterForm, StepButton } from './forms.tsx'
import { NumberChoice } from './NumberChoice.tsx'
import { isInSetup, stepText, summaryOf } from './step-texts.ts'
import { TestMessageForm } from './TestMessageForm.tsx'

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

interface StepListProps {
  connection: Connection
  report: Check
  /** Checks the connection again. */
  check(): Promise<Check>
}

const icons = { ok: IconCircleCheck, warning: IconAlertTriangle, failed: IconCircleX, skipped: IconCircleDashed }

/** Steps of a report, each with what to do and, if Parley can do it, a form or a button. */
function StepList({ connection, report, check }: StepListProps) {
  const { steps: names, statuses } = t.connections.setup
  return (
    <ol className={own.steps}>
      {report.steps.map((step) => {
        const Icon = icons[step.status]
        const { found, advice } = stepText(step)
        return (
          <li key={step.step} className={own.step} aria-label={names[step.step]}>
            <span className={own.icon} data-status={step.status} role="img" aria-label={statuses[step.status]}>
              <Icon size={20} stroke={1.8} aria-hidden="true" />
            </span>
            <div className={own.words}>
              <strong>{names[step.step]}</strong>
              <p className={step.status === 'skipped' ? own.skipped : undefined}>{found}</p>
              {advice !== null && <p>{advice}</p>}
              {actionFor(step, { connection, report, check })}
            </div>
          </li>
        )
      })}
    </ol>
  )
}

function actionFor(step: CheckStep, { connection, report, check }: StepListProps): ReactNode {
  const isOfficial = connection.channel === 'waba'
  const isFailed = step.status === 'failed'
  switch (step.step) {
    case 'token':
      return isOfficial && (isFailed || step.status === 'warning') && isAboutAccess(step) ? (
        <AccessForm connection={connection} field="accessToken" check={check} />
      ) : null
    case 'permissions':
      return isOfficial && step.code === 'permission_missing' ? (
        <AccessForm connection={connection} field="accessToken" check={check} />
      ) : null
    case 'app_secret':
      return isFailed ? <AccessForm connection={connection} field="appSecret" check={check} /> : null
    case 'account':
    case 'number':
      return step.step === choiceStep(report) ? <NumberChoice connection={connection} check={check} /> : null
    case 'registration':
      return isFailed && step.code !== 'number_restricted' ? <RegisterForm connection={connection} /> : null
    case 'webhook':
      return isFailed || step.code === 'callback_unknown' ? (
        <StepButton connection={connection} kind={isOfficial ? 'subscribe' : 'resume'} check={check} />
      ) : null
    case 'history':
      // They are sent to the callback URL, once.
      return connection.state === 'active' && (step.code === 'history_open' || step.code === 'history_refused') ? (
        <StepButton connection={connection} kind="history" check={check} />
      ) : null
    case 'messages':
      return connection.state === 'active' && (connection.channel === 'waba' || connection.channel === 'partner') ? (
        <TestMessageForm connection={connection} check={check} />
      ) : null
    default:
      return null
  }
}

// An unreachable platform is not solved by another token.
const isAboutAccess = ({ code }: CheckStep): boolean => code.startsWith('token_')

/** Returns the step that shows the choice of the number: one choice decides both. */
function choiceStep({ steps }: Check): 'account' | 'number' | null {
  // An unreachable platform is not solved by another number.
  const isFailed = (name: CheckStep['step']) =>
    steps.some(({ step, status, code }) => step === name && status === 'failed' && code.startsWith(`${name}_`))
  if (isFailed('number')) return 'number'
  return isFailed('account') ? 'account' : null
}
