import { useSyncExternalStore } from 'react'

/** Badge of a page in the rail: unread items or problems. */
export interface Badge {
  count: number
  tone: 'accent' | 'bad'
  label: string
}

const badges = new Map<string, Badge>()
const listeners = new Set<() => void>()

/** Sets the badge of a page in the rail; null or 0 removes it. */
export function setRailBadge(path: string, badge: Badge | null): void {
  const before = badges.get(path)
  if (badge === null || badge.count === 0) {
    if (!badges.delete(path)) return
  } else if (before?.count === badge.count && before.tone === badge.tone && before.label === badge.label) return
  else badges.set(path, badge)
  for (const listener of listeners) listener()
}

export function useRailBadge(path: string): Badge | null {
  return useSyncExternalStore(subscribe, () => badges.get(path) ?? null)
}

/** Returns the total of several pages, for a single indicator. */
export function useRailCount(paths: readonly string[]): number {
  return useSyncExternalStore(subscribe, () => paths.reduce((sum, path) => sum + (badges.get(path)?.count ?? 0), 0))
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
