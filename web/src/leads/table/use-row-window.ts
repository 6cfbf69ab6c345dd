import { type RefObject, useCallback, useLayoutEffect, useState } from 'react'
import { type RowWindow, rowWindow, scrollToRow } from './row-window.ts'

export const rowPx = 36

interface Scrolled extends RowWindow {
  onScroll(): void
  show(row: number): void
  toTop(): void
}

/** Tracks the scroll position of a list with a sticky header. */
export function useRowWindow(box: RefObject<HTMLElement | null>, total: number): Scrolled {
  const [place, setPlace] = useState({ scrollTop: 0, height: 800 })
  const measure = useCallback(() => {
    const element = box.current
    if (element === null) return
    const next = { scrollTop: element.scrollTop, height: element.clientHeight - rowPx }
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
    show: (row) => {
      const element = box.current
      if (element === null) return
      const now = { scrollTop: element.scrollTop, height: element.clientHeight - rowPx, total, rowPx }
      element.scrollTop = scrollToRow(row, now)
      measure()
    },
    toTop: () => box.current?.scrollTo({ top: 0 }),
  }
}

// Within a few rows nothing is rendered again: the browser scrolls what exists.
const stepPx = rowPx * 4

function isSame(a: { scrollTop: number; height: number }, b: typeof a, total: number): boolean {
  const isScaled = rowWindow({ ...b, total, rowPx }).scrollPx < total * rowPx
  const step = isScaled ? 1 : stepPx
  return a.height === b.height && Math.floor(a.scrollTop / step) === Math.floor(b.scrollTop / step)
}
