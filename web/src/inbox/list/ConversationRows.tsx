import { useNavigate } from '@tanstack/react-router'
import { useVirtualizer } from '@tanstack/react-virtual'
import {
  type KeyboardEvent,
  type RefObject,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react'
import { prefetchThread, useConversationPages, useInbox } from '../../data/inbox/queries.ts'
import type { Conversation, ConversationFilter } from '../../data/inbox/types.ts'
import { useLabelsById } from '../../data/labels.ts'
import { t } from '../../text/index.ts'
import { EmptyState } from '../../ui/page/EmptyState.tsx'
import { ErrorState } from '../../ui/page/ErrorState.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { useInboxContext } from '../parts/inbox-context.ts'
import { currentSelection, selectRangeTo, toggleSelected, useSelection } from '../parts/selection.ts'
import { ConversationRow, rowHeight } from './ConversationRow.tsx'
import styles from './ConversationRows.module.css'
import { anchoredScrollTop } from './scroll-anchor.ts'
import { type ListMoves, useListKeys } from './use-list-navigation.ts'

interface ConversationRowsProps {
  filter: ConversationFilter
  isNarrowed: boolean
  openId: string | undefined
  clear(): void
}

// The next page is loaded this many rows before the end.
const prefetchRows = 30
const retryMs = 2_000

/** Virtual list: renders only visible rows. */
export function ConversationRows({ filter, isNarrowed, openId, clear }: ConversationRowsProps) {
  const workspaceId = useWorkspaceId()
  const navigate = useNavigate()
  const { query, rows, cursor, more } = useConversationPages(workspaceId, filter)
  const hasMore = cursor !== null
  const scroller = useRef<HTMLDivElement>(null)
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 8,
  })
  const shown = virtual.getVirtualItems()
  useScrollAnchor(scroller, rows, filter)
  const isNearEnd = hasMore && (shown.at(-1)?.index ?? 0) >= rows.length - prefetchRows
  useNextPage(isNearEnd ? cursor : null, more)
  const { chosen, isChoosing, shared } = useRows(rows)
  const navigation = useRowNavigation(scroller, rows, openId, virtual.scrollToIndex, shared)
  useListKeys(useQueuedMove(navigation, query.isPending))

  if (query.isError && rows.length === 0) return <ErrorState error={query.error} retry={() => void query.refetch()} />
  if (query.isPending) return <SkeletonRows />
  if (rows.length === 0) {
    if (isNarrowed) {
      return <EmptyState title={t.inbox.empty.filtered} action={{ label: t.inbox.clearFilters, run: clear }} />
    }
    const connect = () => void navigate({ to: '/w/$workspaceId/connections', params: { workspaceId } })
    const action = { label: t.common.pages.connections, run: connect }
    return <EmptyState title={t.inbox.empty[filter.view]} {...(filter.view === 'all' && { action })} />
  }
  const renderedIds = shown.map(({ index }) => rows[index]?.id)
  const stopId = renderedIds.includes(openId) ? openId : renderedIds[0]
  return (
    <div ref={scroller} className={styles.scroller} data-stale={query.isPlaceholderData || undefined}>
      <ul
        className={styles.rows}
        style={{ height: virtual.getTotalSize() }}
        data-choosing={isChoosing || undefined}
        onKeyDown={focusAdjacentRow}
      >
        {shown.map(({ index, start }) => {
          const row = rows[index]
          return (
            row !== undefined && (
              <ConversationRow
                key={row.id}
                {...{ row, index, start }}
                {...shared}
                total={hasMore ? -1 : rows.length}
                isOpen={row.id === openId}
                isSelected={chosen.has(row.id)}
                isTabStop={row.id === stopId}
              />
            )
          )
        })}
      </ul>
    </div>
  )
}

/**
 * Loads the page at the cursor. Repeated if it failed, or if the list was refetched meanwhile, since the page then no
 * longer belongs to it. Detected by a changed cursor, or by the counter if the cursor is the same.
 */
function useNextPage(cursor: string | null, more: () => Promise<void>): void {
  const [loadCount, setLoadCount] = useState(0)
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs for each cursor and after each load
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    let isOver = false
    const scheduleRead = (afterMs: number) => {
      if (!isOver) timer = setTimeout(() => setLoadCount((count) => count + 1), afterMs)
    }
    if (cursor !== null)
      more().then(
        // Renders the loaded rows first.
        () => scheduleRead(0),
        () => scheduleRead(retryMs),
      )
    return () => {
      isOver = true
      clearTimeout(timer)
    }
  }, [cursor, loadCount])
}

/** Moves by rows and opens them, except while several are selected: that must not mark them as read. */
function useRowNavigation(
  scroller: { current: HTMLDivElement | null },
  rows: readonly { id: string }[],
  openId: string | undefined,
  scrollTo: (index: number) => void,
  { open, select }: Pick<ReturnType<typeof useRows>['shared'], 'open' | 'select'>,
): ListMoves {
  const latest = useRef({ rows, openId, scrollTo })
  latest.current = { rows, openId, scrollTo }
  return useMemo(() => {
    // The focused row, otherwise the open conversation.
    const currentId = () => focusedRow() ?? latest.current.openId
    const moveBy = (step: 1 | -1) => {
      const { rows, scrollTo } = latest.current
      const from = rows.findIndex(({ id }) => id === currentId())
      const to = Math.min(Math.max(from + step, 0), rows.length - 1)
      const id = rows[to]?.id
      if (id === undefined) return
      scrollTo(to)
      const focus = () => scroller.current?.querySelector<HTMLElement>(`[data-row="${id}"]`)?.focus()
      focus()
      // Rows outside the viewport are rendered first.
      if (focusedRow() !== id) requestAnimationFrame(focus)
      // Based on the focused row: with quick key presses, opening lags a row behind.
      if (to !== from && currentSelection().ids.length === 0) open(id)
    }
    return { moveBy, toggle: () => select(currentId(), false) }
  }, [scroller, open, select])
}

/** Remembers one move to the next row until rows have loaded. */
function useQueuedMove(moves: ListMoves, isPending: boolean): ListMoves {
  const isQueued = useRef(false)
  useEffect(() => {
    if (isPending || !isQueued.current) return
    isQueued.current = false
    moves.moveBy(1)
  }, [moves, isPending])
  return useMemo(
    () => ({
      ...moves,
      moveBy: (step) => {
        if (isPending) isQueued.current = step === 1
        else moves.moveBy(step)
      },
    }),
    [moves, isPending],
  )
}

const focusedRow = (): string | undefined => document.activeElement?.closest<HTMLElement>('[data-row]')?.dataset.row

/** Returns the selected rows, and the props that all rows share. */
export function useRows(rows: readonly { id: string }[]) {
  const inbox = useInbox()
  const { open } = useInboxContext()
  const { ids, isTouchMode } = useSelection()
  const latest = useRef(rows)
  latest.current = rows
  const select = useCallback((id: string | undefined, isRange: boolean) => {
    if (id === undefined) return
    if (isRange) selectRangeTo(id, latest.current)
    else toggleSelected(id)
  }, [])
  const peek = useCallback((id: string) => prefetchThread(inbox, id), [inbox])
  const labels = useLabelsById(inbox.workspaceId)
  const shared = { isTouchMode, labels, now: useNow(), open, select, peek }
  return { chosen: new Set(ids), isChoosing: isTouchMode || ids.length > 0, shared }
}

const adjacentRow: Partial<Record<string, 'nextElementSibling' | 'previousElementSibling'>> = {
  ArrowDown: 'nextElementSibling',
  ArrowUp: 'previousElementSibling',
}

/** Moves the focus by arrow keys without opening rows. */
function focusAdjacentRow(event: KeyboardEvent): void {
  const side = adjacentRow[event.key]
  if (side === undefined || !(event.target instanceof HTMLElement)) return
  event.preventDefault()
  event.target.closest('li')?.[side]?.querySelector<HTMLElement>('[data-row]')?.focus()
}

export function SkeletonRows({ count = 8 }: { count?: number }) {
  return (
    <div className={styles.skeletons} aria-busy="true">
      {Array.from({ length: count }, (_, n) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: skeletons without content
        <div key={n} className={styles.skeleton} />
      ))}
    </div>
  )
}

const minuteMs = 60_000

/** Returns the current time, updated every minute, for relative times. */
export function useNow(): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), minuteMs)
    return () => clearInterval(timer)
  }, [])
  return now
}

/** Keeps visible rows in place when rows arrive above them. */
function useScrollAnchor(
  scroller: RefObject<HTMLElement | null>,
  rows: readonly Conversation[],
  filter: ConversationFilter,
): void {
  const before = useRef({ rows, filter })
  useLayoutEffect(() => {
    const { rows: previous, filter: previousFilter } = before.current
    before.current = { rows, filter }
    const element = scroller.current
    if (element === null || previous === rows) return
    if (previousFilter !== filter) element.scrollTop = 0
    else element.scrollTop = anchoredScrollTop(previous, rows, element.scrollTop, rowHeight)
  }, [scroller, rows, filter])
}
