import { IconClockPlus } from '@tabler/icons-react'
import { ApiError } from '../../api/api-error.ts'
import { type LaterContent, scheduleMessage } from '../../data/inbox/follow-ups.ts'
import { useInbox } from '../../data/inbox/queries.ts'
import { t, withTexts } from '../../text/index.ts'
import { formatDateTime } from '../../ui/format/time.ts'
import { lazyComponent } from '../../ui/overlay/lazy.ts'
import { showError, showToast } from '../../ui/overlay/toasts.tsx'
import { IconDropdown } from '../parts/IconButton.tsx'

const LaterPicker = lazyComponent(() => withTexts(() => import('./LaterPicker.tsx')))

/** A text that the window would stop is the usual mistake. */
function showRefusal(error: unknown): void {
  if (error instanceof ApiError && error.code === 'WINDOW_CLOSED') showToast(t.later.windowClosed)
  else showError(error)
}

interface SendLaterProps {
  conversationId: string
  /** Returns what to schedule; null if something is missing. */
  content(): LaterContent | null
  /** Nothing to schedule, or something that cannot be. */
  isDisabled: boolean
  onScheduled(): void
}

/** Button that schedules what would be sent. */
export function SendLater({ conversationId, content, isDisabled, onScheduled }: SendLaterProps) {
  const inbox = useInbox()
  const schedule = (at: Date, cancelIfCustomerWrites: boolean) => {
    const [message, dueAt] = [content(), at.toISOString()]
    if (message === null) return
    scheduleMessage(inbox, conversationId, { ...message, dueAt, cancelIfCustomerWrites }).then(() => {
      onScheduled()
      showToast(t.later.scheduledFor({ time: formatDateTime(dueAt) }))
    }, showRefusal)
  }
  return (
    <IconDropdown
      icon={IconClockPlus}
      label={t.later.sendLater}
      disabled={isDisabled}
      content={(dropdown) => <LaterPicker dropdown={dropdown} schedule={schedule} />}
    />
  )
}
