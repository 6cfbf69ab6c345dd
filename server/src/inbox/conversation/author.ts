import type { Message } from './message.ts'

/** Who wrote a message, for people to read. */
export interface Author {
  /** `app`: another app on the same number, or the phone itself. `system`: a notice of the platform. */
  type: 'customer' | 'agent' | 'user' | 'token' | 'app' | 'system'
  id: string | null
}

export function authorOf({ direction, kind, actor }: Pick<Message, 'direction' | 'kind' | 'actor'>): Author {
  if (direction === 'inbound') return { type: kind === 'system' ? 'system' : 'customer', id: null }
  if (actor === null) return { type: 'app', id: null }
  return actor.type === 'form' ? { type: 'system', id: null } : { type: actor.type, id: actor.id }
}
