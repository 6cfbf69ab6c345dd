import { useSyncExternalStore } from 'react'

/** A number beside a page of the rail: what is unread, or in trouble. */
export interface Badge {
  count: number
  tone: 'accent' | 'bad'
  label: string
}

const badges = new Map<string, Badge>()
const listeners = new Set<() => void>()

/** Sets the number at a page of the rail; null or 0 takes it away. */
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

/** What several pages count together, where one sign stands for them all. */
export function useRailCount(paths: readonly string[]): number {
  return useSyncExternalStore(subscribe, () => paths.reduce((sum, path) => sum + (badges.get(path)?.count ?? 0), 0))
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
