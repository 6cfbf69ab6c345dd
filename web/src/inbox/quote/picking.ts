import { useSyncExternalStore } from 'react'
import type { Message } from '../../data/inbox/types.ts'

/** A message that somebody wants to react to, and the button that they pressed for it. */
export interface Picking {
  conversationId: string
  message: Message
  button: HTMLElement
}

let picking: Picking | null = null
const watchers = new Set<() => void>()

/** Asks for a reaction, beside its button; null ends that. A second press of the same button does as well. */
export function pick(asked: Picking | null): void {
  picking = asked !== null && picking?.button === asked.button ? null : asked
  for (const changed of watchers) changed()
}

export const usePicking = (conversationId: string): Picking | null => {
  const asked = useSyncExternalStore(watch, () => picking)
  return asked?.conversationId === conversationId ? asked : null
}

function watch(changed: () => void): () => void {
  watchers.add(changed)
  return () => watchers.delete(changed)
}
