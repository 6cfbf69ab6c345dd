// Browsers give up on elements of more than some 33 million pixels; a million rows are higher than that.
export const maxScrollPx = 15_000_000
const overscan = 12

interface Place {
  scrollTop: number
  /** Of the part that rows are seen in. */
  height: number
  total: number
  rowPx: number
}

/** Which rows stand where, in a list of any length. */
export interface RowWindow {
  first: number
  /** Behind the last one. */
  end: number
  /** How high the scrolled element is. */
  scrollPx: number
  /** Where the first row is put in it. */
  topPx: number
}

/** Rows above what the scrolled element may measure share its height: it then goes faster than the thumb. */
export function rowWindow({ scrollTop, height, total, rowPx }: Place): RowWindow {
  const allPx = total * rowPx
  const scrollPx = Math.min(allPx, maxScrollPx)
  const realTop = toReal(scrollTop, allPx, scrollPx, height)
  const first = Math.max(0, Math.min(Math.floor(realTop / rowPx), total) - overscan)
  const end = Math.min(total, Math.ceil((realTop + height) / rowPx) + overscan)
  return { first, end, scrollPx, topPx: first * rowPx - realTop + scrollTop }
}

/** Where to scroll so that a row is seen whole; the same place when it is. */
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
