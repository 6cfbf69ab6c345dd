import { useSyncExternalStore } from 'react'
import type { Message } from '../../data/inbox/types.ts'

/** A message that somebody wants to react to, and the button that they pressed for it. */
export interface Picking {
  conversationId: string
  message: Message
  button: HTMLElement
}

let picking: Picking | null = null
const listeners = new Set<() => void>()

/** Asks for a reaction, beside its button; null ends that. A second press of the same button does as well. */
export function pick(request: Picking | null): void {
  picking = request !== null && picking?.button === request.button ? null : request
  for (const listener of listeners) listener()
}

export const usePicking = (conversationId: string): Picking | null => {
  const request = useSyncExternalStore(subscribe, () => picking)
  return request?.conversationId === conversationId ? request : null
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
