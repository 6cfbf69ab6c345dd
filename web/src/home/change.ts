export interface Change {
  kind: 'more' | 'less' | 'same' | 'new'
  /** How much, as a part of what was before; 0 unless it is more or less. */
  part: number
}

/** How a figure stands to the one of the time before; null when there is nothing to compare. */
export function changeOf(now: number | null, before: number | null): Change | null {
  if (now === null || before === null) return null
  if (before === 0) return now === 0 ? null : { kind: 'new', part: 0 }
  const part = (now - before) / before
  // Below half a percent a figure reads as the same.
  if (Math.abs(part) < 0.005) return { kind: 'same', part: 0 }
  return { kind: part > 0 ? 'more' : 'less', part: Math.abs(part) }
}
