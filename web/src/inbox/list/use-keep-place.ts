import { type RefObject, useLayoutEffect, useRef } from 'react'
import type { Conversation, ConversationFilter } from '../../data/inbox/types.ts'
import { rowHeight } from './ConversationRow.tsx'
import { placeAfter } from './keep-place.ts'

/** Whoever has scrolled down keeps the rows in sight where they are, whatever comes in above. */
export function useKeepPlace(
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
    else element.scrollTop = placeAfter(previous, rows, element.scrollTop, rowHeight)
  }, [scroller, rows, filter])
}
