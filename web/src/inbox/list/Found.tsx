import { useCallback, useRef, useState } from 'react'
import { prefetchThread, useConversationPages, useInbox } from '../../data/inbox/queries.ts'
import type { ConversationFilter } from '../../data/inbox/types.ts'
import { useLabelsById } from '../../data/labels.ts'
import { me } from '../../session/session.ts'
import { t } from '../../text/index.ts'
import { ErrorNotice } from '../../ui/page/ErrorNotice.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { ConversationRow, rowHeight } from './ConversationRow.tsx'
import rowStyles from './ConversationRows.module.css'
import { ConversationRows, Shapes, useChoosing, useNow } from './ConversationRows.tsx'
import styles from './Found.module.css'
import { FoundMessages } from './FoundMessages.tsx'
import { foundMark } from './filters.ts'
import { useFoundMoves } from './use-found-moves.ts'

interface FoundProps {
  filter: ConversationFilter
  term: string
  openId: string | undefined
  open(id: string): void
  openAt(id: string, messageId: string): void
}

/** What a search finds: whom by what their row shows, and what was said by its words. */
export default function Found({ filter, term, openId, open, openAt }: FoundProps) {
  // Of one search: the next one shows both groups again.
  const [allOf, setAllOf] = useState<string | null>(null)
  const showsAll = allOf === term
  const scroller = useRef<HTMLElement>(null)
  const moves = useFoundMoves(scroller, openId, !showsAll)
  if (showsAll) {
    return (
      <>
        <button type="button" className={styles.more} onClick={() => setAllOf(null)}>
          {t.finding.found.showFewer}
        </button>
        <ConversationRows filter={filter} isNarrowed openId={openId} open={open} clear={() => setAllOf(null)} />
      </>
    )
  }
  return (
    <section
      ref={scroller}
      className={styles.scroller}
      aria-label={t.finding.found.title}
      {...moves}
      {...{ [foundMark]: '' }}
    >
      <FoundConversations filter={filter} openId={openId} open={open} showAll={() => setAllOf(term)} />
      <FoundMessages term={term} openAt={openAt} />
    </section>
  )
}

interface FoundConversationsProps {
  filter: ConversationFilter
  openId: string | undefined
  open(id: string): void
  showAll(): void
}

const few = 5

function FoundConversations({ filter, openId, open, showAll }: FoundConversationsProps) {
  const workspaceId = useWorkspaceId()
  const inbox = useInbox()
  const { query, rows, cursor } = useConversationPages(workspaceId, filter)
  const labels = useLabelsById(workspaceId)
  const now = useNow()
  const peek = useCallback((id: string) => prefetchThread(inbox, id), [inbox])
  const shown = query.isPlaceholderData ? [] : rows.slice(0, few)
  const { chosen, isByTouch, choose } = useChoosing(shown)
  const hasMore = !query.isPlaceholderData && (rows.length > few || cursor !== null)
  return (
    <section aria-label={t.finding.found.matching}>
      <h2 className={styles.heading}>{t.finding.found.conversations}</h2>
      {query.isError && rows.length === 0 ? (
        <ErrorNotice error={query.error} retry={() => void query.refetch()} />
      ) : query.isPending || query.isPlaceholderData ? (
        <Shapes count={2} />
      ) : shown.length === 0 ? (
        <p className={styles.none}>
          {isShort(filter.search) ? t.finding.found.tooShort : t.finding.found.noConversation}
        </p>
      ) : (
        <ul
          className={rowStyles.rows}
          data-choosing={isByTouch || chosen.size > 0 || undefined}
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
              isChosen={chosen.has(row.id)}
              isByTouch={isByTouch}
              isStop
              labels={labels}
              now={now}
              userId={me().id}
              open={open}
              choose={choose}
              peek={peek}
            />
          ))}
        </ul>
      )}
      {hasMore && (
        <button type="button" className={styles.more} onClick={showAll}>
          {t.finding.found.showAll}
        </button>
      )}
    </section>
  )
}

/** Words of less than three letters are found only where they are a whole word of the name. */
const isShort = (term = ''): boolean => term.split(' ').every((word) => word.length < 3)
