import { type ApiError, conflict } from '../../base/errors.ts'
import type { Conversation } from '../../inbox/conversation/conversation.ts'
import { agentHasIt, heldByPeople } from '../../inbox/conversation/errors.ts'

/** Why a conversation of somebody else is not answered: who has it, since when, and what to do. */
export function refusalToAnswer(conversation: Conversation): ApiError {
  if (conversation.owner.type === 'agent') return agentHasIt(conversation)
  if (conversation.held) return heldByPeople(conversation, 'HELD_BY_PEOPLE')
  return conflict('Nobody answers this conversation yet, and so nothing was sent.', { code: 'NOT_TAKEN' })
}
