import type { FastifyRequest, onRequestHookHandler, preParsingAsyncHookHandler } from 'fastify'
import { type Caller, callerOf } from '../../auth/api-keys/caller.ts'
import type { LookupLimitOf } from '../../auth/rate-limit/lookup-limit.ts'
import { InvalidInput, type Issue } from '../../base/errors.ts'
import { isUuid } from '../../base/id.ts'
import { parseIsoTime } from '../../base/time.ts'
import { conversationNotFound, type InboxDeps, type Scope } from '../conversation/conversation.ts'
import type { ConversationRow } from '../conversation/encrypted-conversation.ts'
import { parseOwner } from '../conversation/owner.ts'
import { requireConversation } from '../conversation/queries.ts'
import type { ListRequest } from '../read/list.ts'
import { type ConversationFilter, noFilter } from '../read/list-filter.ts'
import type { ViewerContext } from './present.ts'
import type { ListQuery } from './schema.ts'

export interface InboxGuard {
  /** Accepts a key that has any of these scopes. */
  inbox(...scopes: ['inbox.read' | 'inbox.write']): onRequestHookHandler
  lookupLimits: LookupLimitOf
}

export const inboxRouteSchema = { tags: ['Inbox'], security: [{ apiKey: [] }] }

/** Throws 404 before the body or the query is validated: the order of checks puts 404 first. */
export function conversationFirst(deps: Pick<InboxDeps, 'db'>): preParsingAsyncHookHandler {
  return async (request) => {
    await requireConversationRow(deps, request)
  }
}

/**
 * Error handler for routes whose own statement finds the conversation: reports a validation error only if the
 * conversation exists, otherwise 404. Valid requests need no second lookup.
 */
export function checkConversationFirst(deps: Pick<InboxDeps, 'db'>) {
  return async (error: Error, request: FastifyRequest): Promise<never> => {
    if ('validation' in error || error instanceof InvalidInput) await requireConversationRow(deps, request)
    throw error
  }
}

/** Throws 404 if the key cannot see such a conversation. */
export async function requireConversationRow(
  { db }: Pick<InboxDeps, 'db'>,
  request: FastifyRequest,
): Promise<ConversationRow> {
  const { id } = request.params as { id: string }
  if (!isUuid(id)) throw conversationNotFound()
  return requireConversation(db.sql, scopeOf(callerOf(request)), id)
}

export function scopeOf({ workspaceId, connectionIds }: Caller): Scope {
  return { workspaceId, connectionIds }
}

/**
 * Runs `work`, which looks a customer up by phone or records one. For keys that see phones masked, a phone that is not
 * found counts against the lookup rate limit.
 */
export async function limitLookups<T>(
  request: FastifyRequest,
  { lookupLimits }: InboxGuard,
  work: () => Promise<T>,
  isMissing: (answer: T) => boolean,
): Promise<T> {
  const { keyId, phoneVisibility } = callerOf(request)
  if (phoneVisibility === 'full') return work()
  return lookupLimits(keyId).spend(async (budget) => {
    if (budget.remaining() === 0) throw budget.limitError()
    const answer = await work()
    if (isMissing(answer)) budget.recordMiss()
    return answer
  })
}

export async function readViewerContext(
  deps: Pick<InboxDeps, 'keyStore' | 'clock'>,
  request: FastifyRequest,
): Promise<ViewerContext> {
  const { workspaceId, phoneVisibility } = callerOf(request)
  const keyring = await deps.keyStore.keyring(workspaceId)
  return { keyring, masked: phoneVisibility === 'masked', now: deps.clock.now() }
}

// No row has this id: an invalid connection id finds nothing instead of causing an error.
const noConnectionId = '00000000-0000-0000-0000-000000000000'

/** Parses the query of a list. Throws `InvalidInput` for an invalid owner or time. */
export function parseListRequest(query: ListQuery): ListRequest {
  const issues: Issue[] = []
  const { connection_id: connectionId, updated_after: updatedAfter } = query
  const filter: ConversationFilter = {
    ...noFilter,
    connectionId:
      connectionId === undefined ? null : isUuid(connectionId) ? connectionId.toLowerCase() : noConnectionId,
    phone: query.phone ?? null,
    owner: query.owner === undefined ? null : parseOwnerFilter(query.owner, issues),
    statuses: query.status === undefined ? null : [query.status],
    updatedAfter: updatedAfter === undefined ? null : parseTime('updated_after', updatedAfter, issues),
  }
  if (issues.length > 0) throw new InvalidInput(issues, 'query')
  return { filter, order: 'updated', limit: query.limit ?? 30, cursor: query.cursor ?? null }
}

export function parseOwnerFilter(text: string, issues: Issue[]): ConversationFilter['owner'] {
  if (text === 'agent') return 'agent'
  const owner = parseOwner(text)
  if (owner !== null) return owner.type === 'human' ? 'human' : { keyId: owner.keyId }
  issues.push({ path: 'owner', message: 'must be human, agent or agent:<api_key_id>' })
  return null
}

export function parseTime(path: string, text: string, issues: Issue[]): Date | null {
  const time = parseIsoTime(text)
  if (time === null) issues.push({ path, message: 'must be an ISO 8601 date or date-time that exists' })
  return time
}
