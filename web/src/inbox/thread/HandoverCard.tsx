import { IconArrowsExchange } from '@tabler/icons-react'
import type { Handover } from '../../data/inbox/types.ts'
import { t } from '../../text/index.ts'
import { Chip } from '../../ui/Chip.tsx'
import { formatDateTime, formatTime } from '../../ui/format/time.ts'
import { handoverLine } from '../parts/inbox-texts.ts'
import styles from './Handover.module.css'
import { MessageText } from './MessageText.tsx'

/** Note of a handover. */
export default function HandoverCard({ handover }: { handover: Handover }) {
  const { summary, reason, nextStep, urgency, createdAt } = handover
  const texts = t.inbox.handover
  const title = handoverLine(handover)
  return (
    <section className={styles.card} aria-label={title} data-line={isLine(handover) || undefined}>
      <p className={styles.title}>
        <IconArrowsExchange size={14} aria-hidden="true" />
        <span>
          {title} · <time title={formatDateTime(createdAt)}>{formatTime(createdAt)}</time>
        </span>
        {urgency !== 'normal' && <Chip tone={urgency === 'high' ? 'bad' : 'plain'}>{texts.urgencies[urgency]}</Chip>}
      </p>
      <MessageText text={summary} />
      {(reason !== null || nextStep !== null) && (
        <dl className={styles.facts}>
          {reason !== null && <Fact name={texts.reason} text={reason} />}
          {nextStep !== null && <Fact name={texts.nextStep} text={nextStep} />}
        </dl>
      )}
    </section>
  )
}

const maxInline = 80

/** Returns whether a note fits into the handover line: a single short sentence. */
const isLine = ({ summary, reason, nextStep }: Handover): boolean =>
  reason === null && nextStep === null && summary.length <= maxInline && !summary.includes('\n')

function Fact({ name, text }: { name: string; text: string }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>
        <MessageText text={text} />
      </dd>
    </>
  )
}
