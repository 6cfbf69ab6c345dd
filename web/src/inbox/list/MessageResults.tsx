import type { MouseEvent } from 'react'
import { useMessageSearch } from '../../data/inbox/message-search.ts'
import type { MessageSearchResult } from '../../data/inbox/types.ts'
import { currentUser } from '../../session/session.ts'
import { t } from '../../text/index.ts'
import { formatDateTime, formatShortTime } from '../../ui/format/time.ts'
import { ErrorState } from '../../ui/page/ErrorState.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { authorCaption, customerName } from '../parts/inbox-texts.ts'
import { SkeletonRows } from './ConversationRows.tsx'
import styles from './SearchResults.module.css'

interface MessageResultsProps {
  term: string
  openAt(id: string, messageId: string): void
}

/** Messages that contain the term, newest first. For rare terms, looks further and further back. */
export function MessageResults({ term, openAt }: MessageResultsProps) {
  const workspaceId = useWorkspaceId()
  const { query, messages, lookedTo } = useMessageSearch(workspaceId, term)
  const isLooking = query.isFetchingNextPage
  return (
    <section aria-label={t.search.results.messages}>
      <h2 className={styles.heading}>{t.search.results.messages}</h2>
      {query.isError && messages.length === 0 ? (
        <ErrorState error={query.error} retry={() => void query.refetch()} />
      ) : query.isPending ? (
        <SkeletonRows count={3} />
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
          ? t.search.results.searching
          : lookedTo !== null
            ? t.search.results.searchedBackTo({ day: formatShortTime(lookedTo) })
            : query.isSuccess && messages.length === 0 && t.search.results.noMessage}
      </p>
      {query.hasNextPage && !isLooking && (
        <button type="button" className={styles.more} onClick={() => void query.fetchNextPage()}>
          {t.search.results.older}
        </button>
      )}
    </section>
  )
}

interface MessageRowProps {
  message: MessageSearchResult
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
        <time className={styles.time} dateTime={occurredAt} title={formatDateTime(occurredAt)}>
          {formatShortTime(occurredAt)}
        </time>
      </span>
      <span className={styles.snippet} dir="auto">
        <AuthorName message={message} />
        {snippet.map(({ text, isHit }, n) =>
          // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a snippet do not change
          isHit ? <mark key={n}>{text}</mark> : <span key={n}>{text}</span>,
        )}
      </span>
    </a>
  )
}

/** Author, unless it is the customer. */
function AuthorName({ message: { author } }: { message: MessageSearchResult }) {
  const who = author.type === 'user' && author.id === currentUser().id ? t.inbox.you : authorCaption(author)
  return who === null ? null : <span className={styles.who}>{who}: </span>
}
