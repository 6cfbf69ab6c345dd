import { Button } from '@mantine/core'
import { IconAlarm, IconChevronDown, IconClock, IconClockExclamation, IconMoodSmile } from '@tabler/icons-react'
import { useState } from 'react'
import {
  cancelScheduled,
  remindOfSilence,
  rescheduleMessage,
  type ScheduledMessage,
  useFollowUps,
} from '../../data/inbox/follow-ups.ts'
import { useInbox } from '../../data/inbox/queries.ts'
import { t, withTexts } from '../../text/index.ts'
import { formatDateTime } from '../../ui/format/time.ts'
import { DropdownContent, dropdownButtonProps, useDropdown } from '../../ui/overlay/dropdown.tsx'
import { lazyComponent } from '../../ui/overlay/lazy.ts'
import { showError } from '../../ui/overlay/toasts.tsx'
import styles from './Follow.module.css'

const LaterPicker = lazyComponent(() => withTexts(() => import('./LaterPicker.tsx')))

/** Messages to send later, those that are held, and the reminder of a silent customer. */
export default function FollowUpBar({ conversationId }: { conversationId: string }) {
  const inbox = useInbox()
  const followUps = useFollowUps(inbox, conversationId)
  const [isOpen, setOpen] = useState(false)
  if (followUps === undefined) return null
  const { scheduled, silenceReminder, rating } = followUps
  const waiting = scheduled.filter(({ status }) => status !== 'held')
  const held = scheduled.filter(({ status }) => status === 'held')
  if (scheduled.length === 0 && silenceReminder === null && rating === null) return null
  const texts = t.later
  return (
    <section className={styles.bar} aria-label={texts.title}>
      {waiting.length > 0 && (
        <button type="button" className={styles.summary} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          <IconClock size={15} aria-hidden="true" />
          {texts.scheduled({ n: waiting.length })}
          <IconChevronDown size={14} aria-hidden="true" />
        </button>
      )}
      {[...(isOpen ? waiting : []), ...held].map((one) => (
        <Scheduled key={one.id} conversationId={conversationId} message={one} />
      ))}
      {rating !== null && (
        <p className={styles.line}>
          <IconMoodSmile size={15} aria-hidden="true" />
          <span className={styles.words}>
            <span className={styles.text} dir="auto">
              {texts.rated({ score: rating.score, scale: rating.scale })}
              {rating.comment !== null && `: ${rating.comment}`}
            </span>
            <span className={styles.facts}>
              {formatDateTime(rating.ratedAt)} · {rating.answeredBy.name ?? t.common.unknown}
            </span>
          </span>
        </p>
      )}
      {silenceReminder !== null && (
        <p className={styles.line}>
          <IconAlarm size={15} aria-hidden="true" />
          <span className={styles.words}>
            {texts.reminder({
              name: silenceReminder.name ?? t.common.unknown,
              time: formatDateTime(silenceReminder.remindAt),
            })}
          </span>
          <Button
            size="compact-xs"
            variant="default"
            onClick={() => void remindOfSilence(inbox, conversationId, null).catch(showError)}
          >
            {texts.remove}
          </Button>
        </p>
      )}
    </section>
  )
}

function Scheduled({ conversationId, message }: { conversationId: string; message: ScheduledMessage }) {
  const inbox = useInbox()
  const { id, status, text, template, dueAt, sender, reason } = message
  const texts = t.later
  const mayChange = status === 'scheduled' || status === 'held'
  const set = (at: Date | null) =>
    void rescheduleMessage(inbox, conversationId, id, at?.toISOString() ?? null).catch(showError)
  return (
    <div className={styles.line} data-held={status === 'held' || undefined}>
      {status === 'held' && <IconClockExclamation size={15} aria-hidden="true" />}
      <span className={styles.words}>
        <span className={styles.text} dir="auto">
          {text ?? texts.template({ name: template?.name ?? '' })}
        </span>
        <span className={styles.facts}>
          {stateText(status, reason, formatDateTime(dueAt))} · {sender.name ?? t.common.unknown}
        </span>
      </span>
      {mayChange && (
        <>
          <Button size="compact-xs" variant="default" onClick={() => set(null)}>
            {texts.sendNow}
          </Button>
          <ChangeTime set={set} />
          <Button
            size="compact-xs"
            variant="default"
            onClick={() => void cancelScheduled(inbox, conversationId, id).catch(showError)}
          >
            {status === 'held' ? texts.dismiss : t.common.cancel}
          </Button>
        </>
      )}
    </div>
  )
}

function stateText(status: ScheduledMessage['status'], reason: string | null, time: string): string {
  const { states, reasons, otherReason } = t.later
  if (status === 'scheduled') return time
  if (status === 'held') {
    const why = reason !== null && reason in reasons ? reasons[reason as keyof typeof reasons] : otherReason
    return `${states.held}: ${why}`
  }
  return status === 'cancelled' ? states.cancelled : states.sending
}

function ChangeTime({ set }: { set(at: Date): void }) {
  const [isOpen, setOpen] = useState(false)
  const dropdown = useDropdown(isOpen, setOpen)
  return (
    <>
      <Button {...dropdownButtonProps(dropdown, 'dialog')} size="compact-xs" variant="default">
        {t.later.changeTime}
      </Button>
      <DropdownContent dropdown={dropdown}>
        <LaterPicker dropdown={dropdown} withOption={false} schedule={set} />
      </DropdownContent>
    </>
  )
}
