import type { MouseEvent } from 'react'
import { useFoundMessages } from '../../data/inbox/found.ts'
import type { FoundMessage } from '../../data/inbox/types.ts'
import { me } from '../../session/session.ts'
import { t } from '../../text/index.ts'
import { fullMoment, shortMoment } from '../../ui/format/time.ts'
import { ErrorNotice } from '../../ui/page/ErrorNotice.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { captionOf, customerName } from '../parts/words.ts'
import { Shapes } from './ConversationRows.tsx'
import styles from './Found.module.css'

interface FoundMessagesProps {
  term: string
  openAt(id: string, messageId: string): void
}

/** The messages that say it, newest first. What is rare is looked for further and further back. */
export function FoundMessages({ term, openAt }: FoundMessagesProps) {
  const workspaceId = useWorkspaceId()
  const { query, messages, lookedTo } = useFoundMessages(workspaceId, term)
  const isLooking = query.isFetchingNextPage
  return (
    <section aria-label={t.finding.found.messages}>
      <h2 className={styles.heading}>{t.finding.found.messages}</h2>
      {query.isError && messages.length === 0 ? (
        <ErrorNotice error={query.error} retry={() => void query.refetch()} />
      ) : query.isPending ? (
        <Shapes count={3} />
      ) : (
        <ul className={styles.messages}>
          {messages.map((message) => (
            <li key={message.id}>
              <MessageRow message={message} openAt={openAt} />
            </li>
          ))}
        </ul>
      )}
      <p className={styles.none} role="status">
        {isLooking
          ? t.finding.found.looking
          : lookedTo !== null
            ? t.finding.found.lookedTo({ day: shortMoment(lookedTo) })
            : query.isSuccess && messages.length === 0 && t.finding.found.noMessage}
      </p>
      {query.hasNextPage && !isLooking && (
        <button type="button" className={styles.more} onClick={() => void query.fetchNextPage()}>
          {t.finding.found.older}
        </button>
      )}
    </section>
  )
}

interface MessageRowProps {
  message: FoundMessage
  openAt(id: string, messageId: string): void
}

function MessageRow({ message, openAt }: MessageRowProps) {
  const workspaceId = useWorkspaceId()
  const { id, conversationId, occurredAt, snippet } = message
  const go = (event: MouseEvent) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return
    event.preventDefault()
    openAt(conversationId, id)
  }
  return (
    <a
      href={`/w/${workspaceId}/inbox/${conversationId}#${id}`}
      className={styles.message}
      data-message={id}
      data-of={conversationId}
      onClick={go}
    >
      <span className={styles.line}>
        <span className={styles.name} dir="auto">
          {customerName(message)}
        </span>
        <time className={styles.time} dateTime={occurredAt} title={fullMoment(occurredAt)}>
          {shortMoment(occurredAt)}
        </time>
      </span>
      <span className={styles.snippet} dir="auto">
        <Said message={message} />
        {snippet.map(({ text, isHit }, n) =>
          // biome-ignore lint/suspicious/noArrayIndexKey: the stretches of a snippet do not change
          isHit ? <mark key={n}>{text}</mark> : <span key={n}>{text}</span>,
        )}
      </span>
    </a>
  )
}

/** Who said it, where it was not the customer. */
function Said({ message: { author } }: { message: FoundMessage }) {
  const who = author.type === 'user' && author.id === me().id ? t.inbox.you : captionOf(author)
  return who === null ? null : <span className={styles.who}>{who}: </span>
}
