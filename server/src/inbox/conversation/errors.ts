import { type ApiError, conflict, forbidden, invalid, notFound, unprocessable } from '../../base/errors.ts'
import type { Conversation } from './conversation.ts'
import { writeOwner } from './owner.ts'

export const conversationNotFound = (): ApiError => notFound('Conversation not found', { code: 'NOT_FOUND' })

export const connectionNotFound = (): ApiError => notFound('Chat connection not found', { code: 'NOT_FOUND' })

export const ownerForbidden = (): ApiError =>
  forbidden('A key can assign a conversation to people or to itself, not to another agent', {
    code: 'OWNER_FORBIDDEN',
  })

export const agentsStopped = (): ApiError =>
  forbidden('Agents are stopped in this workspace. Only people can own conversations until a member resumes agents.', {
    code: 'OWNER_FORBIDDEN',
  })

export const keyCannotOwn = (): ApiError =>
  conflict('This key is not active, lacks inbox.write or does not allow the connection', { code: 'OWNER_MISMATCH' })

/** Names the owner and since when, but never how to take it. The contract's Inbox API has its own code. */
export const lockedToPeople = (
  conversation: Pick<Conversation, 'owner' | 'ownerSince'>,
  code: 'HELD_BY_PEOPLE' | 'OWNER_MISMATCH',
): ApiError =>
  conflict(
    `People have had this conversation since ${conversation.ownerSince.toISOString()}. You will be notified when they hand it over.`,
    { code, ...ownedSince(conversation) },
  )

export const ownedByAgent = (conversation: Pick<Conversation, 'owner' | 'ownerSince'>): ApiError =>
  conflict(
    `An agent has had this conversation since ${conversation.ownerSince.toISOString()}: its owner is ${writeOwner(conversation.owner)}. Leave it to that agent, or to people.`,
    { code: 'OWNER_MISMATCH', ...ownedSince(conversation) },
  )

/** Only the owner can hand a conversation over. */
export const notOwner = (conversation: Pick<Conversation, 'owner' | 'ownerSince'>): ApiError =>
  conflict(
    `Only the owner can hand over a conversation. This one has been with ${conversation.owner.type === 'human' ? 'people' : writeOwner(conversation.owner)} since ${conversation.ownerSince.toISOString()}. Leave it to them.`,
    { code: 'OWNER_MISMATCH', ...ownedSince(conversation) },
  )

const ownedSince = ({ owner, ownerSince }: Pick<Conversation, 'owner' | 'ownerSince'>) => ({
  owner: writeOwner(owner),
  since: ownerSince.toISOString(),
})

/** `field` is the name in the caller's API. */
export const unknownLabels = (field: string): ApiError => invalid(field, 'must be ids of labels of the workspace')

export const noteKeyReused = (): ApiError =>
  unprocessable('This Idempotency-Key was already used for another note. Use a new key for a new note.', {
    code: 'IDEMPOTENCY_KEY_USED',
  })
