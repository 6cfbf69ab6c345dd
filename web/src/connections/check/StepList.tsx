import { IconAlertTriangle, IconCircleCheck, IconCircleDashed, IconCircleX } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import type { Check, CheckStep } from '../../data/connection/check.ts'
import type { Connection } from '../../data/connections.ts'
import { t } from '../../text/index.ts'
import own from './check.module.css'
import { AccessForm, RegisterForm, StepButton } from './forms.tsx'
import { NumberChoice } from './NumberChoice.tsx'
import { stepText } from './step-texts.ts'
import { TestMessageForm } from './TestMessageForm.tsx'

interface StepListProps {
  connection: Connection
  report: Check
  /** Checks the connection again. */
  check(): Promise<Check>
}

const icons = { ok: IconCircleCheck, warning: IconAlertTriangle, failed: IconCircleX, skipped: IconCircleDashed }

/** Steps of a report, each with what to do and, if Parley can do it, a form or a button. */
export function StepList({ connection, report, check }: StepListProps) {
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
