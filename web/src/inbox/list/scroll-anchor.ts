const maxRowsChecked = 20

/**
 * Returns the scroll position that keeps visible rows in place. Uses only rows whose next row is unchanged, since
 * others may have moved themselves. At the very top, new rows push the others down.
 */
export function anchoredScrollTop(
  before: readonly { id: string }[],
  after: readonly { id: string }[],
  scrollTop: number,
  rowHeight: number,
): number {
  const first = Math.floor(scrollTop / rowHeight)
  if (scrollTop < rowHeight / 2) return scrollTop
  for (let at = first; at < Math.min(first + maxRowsChecked, before.length - 1); at++) {
    const now = after.findIndex(({ id }) => id === before[at]?.id)
    if (now !== -1 && after[now + 1]?.id === before[at + 1]?.id) return scrollTop + (now - at) * rowHeight
  }
  return scrollTop
}
