export interface Change {
  kind: 'more' | 'less' | 'same' | 'new'
  /** Fraction of the previous value; 0 if unchanged. */
  fraction: number
}

/** Compares a figure with that of the previous period; null if there is nothing to compare. */
export function changeOf(now: number | null, before: number | null): Change | null {
  if (now === null || before === null) return null
  if (before === 0) return now === 0 ? null : { kind: 'new', fraction: 0 }
  const part = (now - before) / before
  // Changes below 0.5 % are shown as none.
  if (Math.abs(part) < 0.005) return { kind: 'same', fraction: 0 }
  return { kind: part > 0 ? 'more' : 'less', fraction: Math.abs(part) }
}
