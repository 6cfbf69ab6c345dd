import { type MouseEvent, useRef, useState } from 'react'
import { useMessageSearch } from '../../data/inbox/message-search.ts'
import { useConversationPages } from '../../data/inbox/queries.ts'
import type { ConversationFilter, MessageSearchResult } from '../../data/inbox/types.ts'
import { currentUser } from '../../session/session.ts'
import { t } from '../../text/index.ts'
import { formatDateTime, formatShortTime } from '../../ui/format/time.ts'
import { ErrorState } from '../../ui/page/ErrorState.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { useInboxContext } from '../parts/inbox-context.ts'
import { authorCaption, customerName } from '../parts/inbox-texts.ts'
import { ConversationRow, rowHeight } from './ConversationRow.tsx'
import rowStyles from './ConversationRows.module.css'
import { ConversationRows, SkeletonRows, useRows } from './ConversationRows.tsx'
import { resultsAttribute } from './filters.ts'
import styles from './SearchResults.module.css'
import { useResultNavigation } from './use-list-navigation.ts'

interface SearchResultsProps {
  filter: ConversationFilter
  term: string
  openId: string | undefined
}

/** Search results: conversations by their customer, and messages by text. */
export default function SearchResults({ filter, term, openId }: SearchResultsProps) {
  // Per search: a new one shows both groups again.
  const [expandedTerm, setExpandedTerm] = useState<string | null>(null)
  const showsAll = expandedTerm === term
  const scroller = useRef<HTMLElement>(null)
  const moves = useResultNavigation(scroller, openId, !showsAll)
  if (showsAll) {
    return (
      <>
        <button type="button" className={styles.more} onClick={() => setExpandedTerm(null)}>
          {t.search.results.showFewer}
        </button>
        <ConversationRows filter={filter} isNarrowed openId={openId} clear={() => setExpandedTerm(null)} />
      </>
    )
  }
  return (
    <section
      ref={scroller}
      className={styles.scroller}
      aria-label={t.search.results.title}
      {...moves}
      {...{ [resultsAttribute]: '' }}
    >
      <ConversationResults filter={filter} openId={openId} showAll={() => setExpandedTerm(term)} />
      <MessageResults term={term} />
    </section>
  )
}

interface ConversationResultsProps {
  filter: ConversationFilter
  openId: string | undefined
  showAll(): void
}

const previewCount = 5

function ConversationResults({ filter, openId, showAll }: ConversationResultsProps) {
  const workspaceId = useWorkspaceId()
  const { query, rows, cursor } = useConversationPages(workspaceId, filter)
  const shown = query.isPlaceholderData ? [] : rows.slice(0, previewCount)
  const { chosen, isChoosing, shared } = useRows(shown)
  const hasMore = !query.isPlaceholderData && (rows.length > previewCount || cursor !== null)
  return (
    <section aria-label={t.search.results.matching}>
      <h2 className={styles.heading}>{t.search.results.conversations}</h2>
      {query.isError && rows.length === 0 ? (
        <ErrorState error={query.error} retry={() => void query.refetch()} />
      ) : query.isPending || query.isPlaceholderData ? (
        <SkeletonRows count={2} />
      ) : shown.length === 0 ? (
        <p className={styles.none}>
          {isShort(filter.search) ? t.search.results.tooShort : t.search.results.noConversation}
        </p>
      ) : (
        <ul
          className={rowStyles.rows}
          data-choosing={isChoosing || undefined}
          style={{ height: shown.length * rowHeight }}
        >
          {shown.map((row, index) => (
            <ConversationRow
              key={row.id}
              {...{ row, index }}
              {...shared}
              start={index * rowHeight}
              total={hasMore ? -1 : rows.length}
              isOpen={row.id === openId}
              isSelected={chosen.has(row.id)}
              isTabStop
            />
          ))}
        </ul>
      )}
      {hasMore && (
        <button type="button" className={styles.more} onClick={showAll}>
          {t.search.results.showAll}
        </button>
      )}
    </section>
  )
}

/** Words of fewer than three letters match only whole words of a name. */
const isShort = (term = ''): boolean => term.split(' ').every((word) => word.length < 3)

/** Messages that contain the term, newest first. For rare terms, looks further and further back. */
function MessageResults({ term }: { term: string }) {
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
              <MessageRow message={message} />
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

function MessageRow({ message }: { message: MessageSearchResult }) {
  const workspaceId = useWorkspaceId()
  const { open } = useInboxContext()
  const { id, conversationId, occurredAt, snippet } = message
  const go = (event: MouseEvent) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return
    event.preventDefault()
    open(conversationId, id)
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
