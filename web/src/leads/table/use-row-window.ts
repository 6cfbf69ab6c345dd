import { type RefObject, useCallback, useLayoutEffect, useState } from 'react'

export const rowPx = 36

/** Tracks the scroll position of a list with a sticky header. */
export function useRowWindow(box: RefObject<HTMLElement | null>, total: number) {
  const [place, setPlace] = useState({ scrollTop: 0, height: 800 })
  const measure = useCallback(() => {
    if (box.current === null) return
    const next = placeIn(box.current)
    setPlace((before) => (isSame(before, next, total) ? before : next))
  }, [box, total])
  useLayoutEffect(() => {
    const element = box.current
    if (element === null) return
    const watch = new ResizeObserver(measure)
    watch.observe(element)
    measure()
    return () => watch.disconnect()
  }, [box, measure])
  const at = { ...place, total, rowPx }
  return {
    ...rowWindow(at),
    onScroll: measure,
    show: (row: number) => {
      const element = box.current
      if (element === null) return
      element.scrollTop = scrollToRow(row, { ...placeIn(element), total, rowPx })
      measure()
    },
    toTop: () => box.current?.scrollTo({ top: 0 }),
  }
}

const placeIn = ({ scrollTop, clientHeight }: HTMLElement) => ({ scrollTop, height: clientHeight - rowPx })

// Within a few rows nothing is rendered again: the browser scrolls what exists.
const stepPx = rowPx * 4

function isSame(a: { scrollTop: number; height: number }, b: typeof a, total: number): boolean {
  const isScaled = rowWindow({ ...b, total, rowPx }).scrollPx < total * rowPx
  const step = isScaled ? 1 : stepPx
  return a.height === b.height && Math.floor(a.scrollTop / step) === Math.floor(b.scrollTop / step)
}

// Browsers limit elements to about 33 million pixels, less than the height of a million rows.
export const maxScrollPx = 15_000_000
const overscan = 12

interface Place {
  scrollTop: number
  /** Height of the viewport. */
  height: number
  total: number
  rowPx: number
}

/** Visible rows and their position in a list of any length. */
interface RowWindow {
  first: number
  /** Exclusive. */
  end: number
  /** Height of the scrolled element. */
  scrollPx: number
  /** Position of the first row in it. */
  topPx: number
}

/** Returns the visible rows. If all rows exceed the maximum height, scrolling is scaled: rows move faster. */
export function rowWindow({ scrollTop, height, total, rowPx }: Place): RowWindow {
  const allPx = total * rowPx
  const scrollPx = Math.min(allPx, maxScrollPx)
  const realTop = toReal(scrollTop, allPx, scrollPx, height)
  const first = Math.max(0, Math.min(Math.floor(realTop / rowPx), total) - overscan)
  const end = Math.min(total, Math.ceil((realTop + height) / rowPx) + overscan)
  return { first, end, scrollPx, topPx: first * rowPx - realTop + scrollTop }
}

/** Returns the scroll position that makes a row fully visible; unchanged if it is. */
export function scrollToRow(row: number, { scrollTop, height, total, rowPx }: Place): number {
  const allPx = total * rowPx
  const scrollPx = Math.min(allPx, maxScrollPx)
  const realTop = toReal(scrollTop, allPx, scrollPx, height)
  const above = row * rowPx
  const target = above < realTop ? above : above + rowPx > realTop + height ? above + rowPx - height : realTop
  if (target === realTop) return scrollTop
  return allPx === scrollPx ? target : (target * Math.max(scrollPx - height, 1)) / Math.max(allPx - height, 1)
}

function toReal(scrollTop: number, allPx: number, scrollPx: number, height: number): number {
  const top = Math.max(0, Math.min(scrollTop, scrollPx - height))
  return allPx === scrollPx ? top : (top * (allPx - height)) / Math.max(scrollPx - height, 1)
}
