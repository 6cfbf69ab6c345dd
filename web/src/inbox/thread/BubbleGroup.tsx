import { IconPaperclip } from '@tabler/icons-react'
import { memo } from 'react'
import { sendReply } from '../../data/inbox/outbox.ts'
import { useInbox } from '../../data/inbox/queries.ts'
import type { Message } from '../../data/inbox/types.ts'
import { t } from '../../text/index.ts'
import { clock, fullMoment } from '../../ui/format/time.ts'
import { complain } from '../../ui/overlay/notices.tsx'
import { AdCard } from '../parts/AdCard.tsx'
import { Tick } from '../parts/Tick.tsx'
import { captionOf, failureReason } from '../parts/words.ts'
import { type Block, showsTicks } from './blocks.ts'
import { MessageActions } from './MessageActions.tsx'
import { MessageText } from './MessageText.tsx'
import styles from './Thread.module.css'

type Group = Extract<Block, { type: 'group' }>

interface BubbleGroupProps extends Pick<Group, 'side' | 'author' | 'messages'> {
  conversationId: string
}

/** What one author said in one go, with who that was under it. */
export const BubbleGroup = memo(
  function BubbleGroup({ conversationId, side, author, messages }: BubbleGroupProps) {
    const caption = captionOf(author)
    const last = messages.at(-1)
    return (
      <div className={styles.group} data-side={side}>
        {messages.map((message, n) => (
          <Bubble
            key={message.id}
            conversationId={conversationId}
            message={message}
            hasTick={n < messages.length - 1 && showsTicks(messages, n)}
          />
        ))}
        {last !== undefined && (caption !== null || last.direction === 'outbound') && (
          <p className={styles.caption} data-by={author.type}>
            {caption} <time title={fullMoment(last.occurredAt)}>{clock(last.occurredAt)}</time>
            {last.direction === 'outbound' && <Tick status={last.status} />}
          </p>
        )}
      </div>
    )
  },
  (before, next) =>
    before.conversationId === next.conversationId &&
    before.messages.length === next.messages.length &&
    before.messages.every((message, n) => message === next.messages[n]),
)

interface BubbleProps {
  conversationId: string
  message: Message
  hasTick: boolean
}

function Bubble({ conversationId, message, hasTick }: BubbleProps) {
  const { kind, text, author, occurredAt, referral, status } = message
  const isMedia = kind !== 'text' && kind !== 'template'
  return (
    <>
      {referral !== null && <AdCard referral={referral} />}
      <div className={styles.row}>
        <div
          className={styles.bubble}
          data-by={author.type}
          data-failed={status === 'failed' || undefined}
          title={fullMoment(occurredAt)}
        >
          {isMedia && (
            <span className={styles.media} title={t.inbox.mediaHelp}>
              <IconPaperclip size={15} aria-hidden="true" />
              {t.inbox.kinds[kind]}
            </span>
          )}
          {text !== '' && <MessageText text={text} />}
          {hasTick && <Tick status={status} />}
        </div>
        <MessageActions conversationId={conversationId} message={message} />
      </div>
      {status === 'failed' && <Failed conversationId={conversationId} message={message} />}
    </>
  )
}

/** Why, and a way on: the same words as a message of their own. */
function Failed({ conversationId, message: { kind, text, errorCode } }: Omit<BubbleProps, 'hasTick'>) {
  const inbox = useInbox()
  const again = () => sendReply(inbox, conversationId, { reply: { kind: 'text', text }, text }).catch(complain)
  return (
    <p className={styles.failed}>
      {failureReason(errorCode)}
      {kind === 'text' && (
        <button type="button" className={styles.again} onClick={() => void again()}>
          {t.inbox.sendAsNew}
        </button>
      )}
    </p>
  )
}
