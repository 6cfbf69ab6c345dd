import type { DeliveryDetail } from '../../data/webhooks.ts'
import { t } from '../../text/index.ts'
import { Chip } from '../../ui/Chip.tsx'
import { CodeBlock } from '../../ui/CodeBlock.tsx'
import { formatDateTimeSeconds } from '../../ui/format/time.ts'
import { formatMs } from '../webhook-texts.ts'
import styles from './DeliveryPanel.module.css'

/** Delivery attempts with their responses, newest first. */
export function Attempts({ attempts }: { attempts: DeliveryDetail['attemptList'] }) {
  if (attempts.length === 0) return <p className={styles.note}>{t.webhooks.noAttempts}</p>
  return (
    <ul className={styles.attempts}>
      {attempts.toReversed().map((attempt) => (
        <li key={attempt.number} className={styles.attempt}>
          <Attempt attempt={attempt} />
        </li>
      ))}
    </ul>
  )
}

function Attempt({ attempt }: { attempt: DeliveryDetail['attemptList'][number] }) {
  const { number: count, at, status, ms, explanation, answer } = attempt
  const isTaken = status !== null && status >= 200 && status < 300
  return (
    <>
      <div className={styles.line}>
        <strong>{t.webhooks.attempt({ number: count })}</strong>
        <Chip tone={isTaken ? 'good' : 'bad'}>
          {status === null ? t.webhooks.noResponse : t.webhooks.response({ status })}
        </Chip>
        <span>{formatMs(ms)}</span>
        <time dateTime={at}>{formatDateTimeSeconds(at)}</time>
      </div>
      {explanation !== null && <p className={styles.why}>{explanation}</p>}
      {status !== null && (
        <>
          <h3 className={styles.small}>{t.webhooks.answer}</h3>
          {answer ? (
            <CodeBlock label={t.webhooks.answer} value={answer} isLow />
          ) : (
            <p className={styles.note}>{t.webhooks.emptyResponse}</p>
          )}
        </>
      )}
    </>
  )
}
