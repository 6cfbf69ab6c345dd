import { IconArrowBackUp, IconMoodSmile } from '@tabler/icons-react'
import type { Message } from '../../data/inbox/types.ts'
import { t } from '../../text/index.ts'
import { pick } from '../quote/picking.ts'
import { quote } from '../quote/quoting.ts'
import styles from './MessageActions.module.css'

interface MessageActionsProps {
  conversationId: string
  message: Message
}

/** What can be done with a message, beside its bubble: to quote it, to react to it. What the channel cannot is not shown. */
export function MessageActions({ conversationId, message }: MessageActionsProps) {
  const { id, kind, status, withdrawnAt } = message
  // The platform knows no other message of this one's name, or not any more.
  if (kind === 'system' || status === 'pending' || status === 'failed' || withdrawnAt !== null) return null
  const texts = t.attach
  return (
    <span className={styles.acts} data-message-id={id}>
      <button
        type="button"
        className={styles.react}
        aria-haspopup="dialog"
        aria-label={texts.react}
        title={texts.react}
        onClick={({ currentTarget: button }) => pick({ conversationId, message, button })}
      >
        <IconMoodSmile size={17} />
      </button>
      <button
        type="button"
        className={styles.quote}
        aria-label={texts.reply}
        title={texts.reply}
        onClick={() => quote(conversationId, message)}
      >
        <IconArrowBackUp size={17} />
      </button>
    </span>
  )
}
