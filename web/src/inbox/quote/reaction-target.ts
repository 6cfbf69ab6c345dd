import { useSyncExternalStore } from 'react'
import type { Message } from '../../data/inbox/types.ts'

/** Message to react to, and the button that was clicked. */
export interface ReactionTarget {
  conversationId: string
  message: Message
  button: HTMLElement
}

let target: ReactionTarget | null = null
const listeners = new Set<() => void>()

/** Opens the reaction picker beside a button; null or the same button closes it. */
export function setReactionTarget(request: ReactionTarget | null): void {
  target = request !== null && target?.button === request.button ? null : request
  for (const listener of listeners) listener()
}

export const useReactionTarget = (conversationId: string): ReactionTarget | null => {
  const request = useSyncExternalStore(subscribe, () => target)
  return request?.conversationId === conversationId ? request : null
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
