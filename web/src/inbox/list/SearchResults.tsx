import { useCallback, useRef, useState } from 'react'
import { prefetchThread, useConversationPages, useInbox } from '../../data/inbox/queries.ts'
import type { ConversationFilter } from '../../data/inbox/types.ts'
import { useLabelsById } from '../../data/labels.ts'
import { currentUser } from '../../session/session.ts'
import { t } from '../../text/index.ts'
import { ErrorState } from '../../ui/page/ErrorState.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { ConversationRow, rowHeight } from './ConversationRow.tsx'
import rowStyles from './ConversationRows.module.css'
import { ConversationRows, SkeletonRows, useNow, useRowSelection } from './ConversationRows.tsx'
import { resultsAttribute } from './filters.ts'
import { MessageResults } from './MessageResults.tsx'
import styles from './SearchResults.module.css'
import { useResultNavigation } from './use-result-navigation.ts'

interface SearchResultsProps {
  filter: ConversationFilter
  term: string
  openId: string | undefined
  open(id: string): void
  openAt(id: string, messageId: string): void
}

/** Search results: conversations by their customer, and messages by text. */
export default function SearchResults({ filter, term, openId, open, openAt }: SearchResultsProps) {
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
        <ConversationRows filter={filter} isNarrowed openId={openId} open={open} clear={() => setExpandedTerm(null)} />
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
      <ConversationResults filter={filter} openId={openId} open={open} showAll={() => setExpandedTerm(term)} />
      <MessageResults term={term} openAt={openAt} />
    </section>
  )
}

interface ConversationResultsProps {
  filter: ConversationFilter
  openId: string | undefined
  open(id: string): void
  showAll(): void
}

const previewCount = 5

function ConversationResults({ filter, openId, open, showAll }: ConversationResultsProps) {
  const workspaceId = useWorkspaceId()
  const inbox = useInbox()
  const { query, rows, cursor } = useConversationPages(workspaceId, filter)
  const labels = useLabelsById(workspaceId)
  const now = useNow()
  const peek = useCallback((id: string) => prefetchThread(inbox, id), [inbox])
  const shown = query.isPlaceholderData ? [] : rows.slice(0, previewCount)
  const { chosen, isTouchMode, choose } = useRowSelection(shown)
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
          data-choosing={isTouchMode || chosen.size > 0 || undefined}
          style={{ height: shown.length * rowHeight }}
        >
          {shown.map((row, index) => (
            <ConversationRow
              key={row.id}
              row={row}
              index={index}
              start={index * rowHeight}
              total={hasMore ? -1 : rows.length}
              isOpen={row.id === openId}
              isSelected={chosen.has(row.id)}
              isTouchMode={isTouchMode}
              isTabStop
              labels={labels}
              now={now}
              userId={currentUser().id}
              open={open}
              select={choose}
              peek={peek}
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
