import { useSyncExternalStore } from 'react'
import type { Message } from '../../data/inbox/types.ts'

/** Message to react to, and the button that was clicked. */
export interface Picking {
  conversationId: string
  message: Message
  button: HTMLElement
}

let picking: Picking | null = null
const listeners = new Set<() => void>()

/** Opens the reaction picker beside a button; null or the same button closes it. */
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
