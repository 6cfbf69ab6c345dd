import type { FastifyRequest, onRequestHookHandler, preParsingAsyncHookHandler } from 'fastify'
import { type Caller, callerOf } from '../../access/keys/caller.ts'
import type { GuessesOf } from '../../access/rate-limit/guesses.ts'
import { InvalidInput } from '../../base/errors.ts'
import { isUuid } from '../../base/id.ts'
import type { InboxDeps, Scope } from '../conversation/conversation.ts'
import { conversationNotFound } from '../conversation/errors.ts'
import { findConversation } from '../conversation/queries.ts'
import type { ConversationRow } from '../conversation/sealed.ts'
import type { View } from './present.ts'

export interface InboxGuard {
  /** Lets a key in that has any of these scopes. */
  inbox(...scopes: ['inbox.read' | 'inbox.write']): onRequestHookHandler
  guesses: GuessesOf
}

export const about = { tags: ['Inbox'], security: [{ apiKey: [] }] }

/** Throws 404 before the body or the query is looked at, as the order of checks has it. */
export function requireConversation(deps: Pick<InboxDeps, 'db'>): preParsingAsyncHookHandler {
  return async (request) => {
    await conversationOf(deps, request)
  }
}

/**
 * For a route whose own statement finds the conversation: what is wrong with a request is told of one that is there, and
 * 404 before it. So a request with which nothing is wrong is not looked up twice.
 */
export function conversationFirst(deps: Pick<InboxDeps, 'db'>) {
  return async (error: Error, request: FastifyRequest): Promise<never> => {
    if ('validation' in error || error instanceof InvalidInput) await conversationOf(deps, request)
    throw error
  }
}

/** Throws 404 when there is none that the key sees. */
export async function conversationOf({ db }: Pick<InboxDeps, 'db'>, request: FastifyRequest): Promise<ConversationRow> {
  const { id } = request.params as { id: string }
  const row = isUuid(id) ? await findConversation(db.sql, scopeOf(callerOf(request)), id) : undefined
  if (row === undefined) throw conversationNotFound()
  return row
}

export function scopeOf({ workspaceId, connectionIds }: Caller): Scope {
  return { workspaceId, connectionIds }
}

/**
 * Runs what looks a customer up by a number, or writes one down. Of a key that sees phones masked it costs a guess when the
 * number is not there.
 */
export async function guessing<T>(
  request: FastifyRequest,
  { guesses }: InboxGuard,
  work: () => Promise<T>,
  isMissing: (answer: T) => boolean,
): Promise<T> {
  const { keyId, phoneVisibility } = callerOf(request)
  if (phoneVisibility === 'full') return work()
  return guesses(keyId).spend(async (budget) => {
    if (budget.left() === 0) throw budget.refusal()
    const answer = await work()
    if (isMissing(answer)) budget.note()
    return answer
  })
}

/** How the request's key sees the inbox. */
export async function viewOf(deps: Pick<InboxDeps, 'vault' | 'clock'>, request: FastifyRequest): Promise<View> {
  const { workspaceId, phoneVisibility } = callerOf(request)
  const keyring = await deps.vault.keyring(workspaceId)
  return { keyring, masked: phoneVisibility === 'masked', now: deps.clock.now() }
}
