import { type ApiError, conflict, forbidden, invalid, notFound, unprocessable } from '../../base/errors.ts'

export const conversationNotFound = (): ApiError => notFound('Conversation not found', { code: 'NOT_FOUND' })

export const connectionNotFound = (): ApiError => notFound('Chat connection not found', { code: 'NOT_FOUND' })

export const ownerForbidden = (): ApiError =>
  forbidden('A key can give a conversation to people or take it itself, not give it to another agent', {
    code: 'OWNER_FORBIDDEN',
  })

export const agentsStopped = (): ApiError =>
  forbidden('Agents are stopped in this workspace: only people own conversations until a member lets agents on', {
    code: 'OWNER_FORBIDDEN',
  })

export const keyCannotOwn = (): ApiError =>
  conflict('This key is not active, lacks inbox.write or does not allow the connection', { code: 'OWNER_MISMATCH' })

/** `field` is what the caller's face names it. */
export const unknownLabels = (field: string): ApiError => invalid(field, 'must be ids of labels of the workspace')

export const noteKeyUsedOtherwise = (): ApiError =>
  unprocessable('This Idempotency-Key was used for another note. Add a new note with a new key.', {
    code: 'IDEMPOTENCY_KEY_USED',
  })
