import type { FastifyRequest, onRequestHookHandler, preParsingAsyncHookHandler } from 'fastify'
import { type Caller, callerOf } from '../access/caller.ts'
import { isUuid } from '../base/id.ts'
import type { InboxDeps, Scope } from './conversation.ts'
import { conversationNotFound } from './errors.ts'
import type { View } from './present.ts'
import { findConversation } from './queries.ts'

export interface InboxGuard {
  /** Lets a key in that has any of these scopes. */
  inbox(...scopes: ['inbox.read' | 'inbox.write']): onRequestHookHandler
}

export const about = { tags: ['Inbox'], security: [{ apiKey: [] }] }
export const conversationPath = { id: '{{conversation_id}}' }

/** Answers 404 before the body or the query is looked at, as the order of checks has it. */
export function requireConversation({ db }: Pick<InboxDeps, 'db'>): preParsingAsyncHookHandler {
  return async (request) => {
    const { id } = request.params as { id: string }
    const row = isUuid(id) ? await findConversation(db.sql, scopeOf(callerOf(request)), id) : undefined
    if (row === undefined) throw conversationNotFound()
  }
}

export function scopeOf({ workspaceId, connectionIds }: Caller): Scope {
  return { workspaceId, connectionIds }
}

/** How the request's key sees the inbox. */
export async function viewOf(deps: Pick<InboxDeps, 'vault' | 'clock'>, request: FastifyRequest): Promise<View> {
  const { workspaceId, phoneVisibility } = callerOf(request)
  const keyring = await deps.vault.keyring(workspaceId)
  return { keyring, masked: phoneVisibility === 'masked', now: deps.clock.now() }
}
