import { memo } from 'react'
import { formatDateTime, formatTime } from '../../ui/format/time.ts'
import { authorCaption } from '../parts/inbox-texts.ts'
import { Tick } from '../parts/Tick.tsx'
import { Bubble } from './Bubble.tsx'
import { type Block, showsTicks } from './blocks.ts'
import styles from './Thread.module.css'

type Group = Extract<Block, { type: 'group' }>

interface BubbleGroupProps extends Pick<Group, 'side' | 'author' | 'messages'> {
  conversationId: string
}

/** Consecutive messages of one author, with the author below. */
export const BubbleGroup = memo(
  function BubbleGroup({ conversationId, side, author, messages }: BubbleGroupProps) {
    const caption = authorCaption(author)
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
            {caption} <time title={formatDateTime(last.occurredAt)}>{formatTime(last.occurredAt)}</time>
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
