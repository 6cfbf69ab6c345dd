import type { Message } from '../../data/inbox/types.ts'
import { createPublisher } from '../parts/publisher.ts'

/** Message to react to, and the button that was clicked. */
export interface ReactionTarget {
  conversationId: string
  message: Message
  button: HTMLElement
}

let target: ReactionTarget | null = null
const { publish, useValue } = createPublisher()

/** Opens the reaction picker beside a button; null or the same button closes it. */
export function setReactionTarget(request: ReactionTarget | null): void {
  target = request !== null && target?.button === request.button ? null : request
  publish()
}

export const useReactionTarget = (conversationId: string): ReactionTarget | null => {
  const request = useValue(() => target)
  return request?.conversationId === conversationId ? request : null
}
