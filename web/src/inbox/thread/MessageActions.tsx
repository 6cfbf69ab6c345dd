import { IconArrowBackUp, IconMoodSmile } from '@tabler/icons-react'
import type { Message } from '../../data/inbox/types.ts'
import { t } from '../../text/index.ts'
import { setQuotedMessage } from '../quote/quoted-message.ts'
import { setReactionTarget } from '../quote/reaction-target.ts'
import styles from './MessageActions.module.css'

interface MessageActionsProps {
  conversationId: string
  message: Message
}

/** Buttons beside a message to quote it or react to it. Hidden if the channel does not support it. */
export function MessageActions({ conversationId, message }: MessageActionsProps) {
  const { id, kind, status, withdrawnAt } = message
  // The platform has no message with this id, or no longer.
  if (kind === 'system' || status === 'pending' || status === 'failed' || withdrawnAt !== null) return null
  const texts = t.attach
  return (
    <span className={styles.actions} data-message-id={id}>
      <button
        type="button"
        className={styles.react}
        aria-haspopup="dialog"
        aria-label={texts.react}
        title={texts.react}
        onClick={({ currentTarget: button }) => setReactionTarget({ conversationId, message, button })}
      >
        <IconMoodSmile size={17} />
      </button>
      <button
        type="button"
        className={styles.quote}
        aria-label={texts.reply}
        title={texts.reply}
        onClick={() => setQuotedMessage(conversationId, message)}
      >
        <IconArrowBackUp size={17} />
      </button>
    </span>
  )
}
