import type { FastifyRequest, onRequestHookHandler, preParsingAsyncHookHandler } from 'fastify'
import { type Caller, callerOf } from '../../auth/api-keys/caller.ts'
import type { LookupLimitOf } from '../../auth/rate-limit/lookup-limit.ts'
import { InvalidInput, type Issue } from '../../base/errors.ts'
import { isUuid } from '../../base/id.ts'
import { readIsoTime } from '../../base/time.ts'
import type { InboxDeps, Scope } from '../conversation/conversation.ts'
import type { ConversationRow } from '../conversation/encrypted-conversation.ts'
import { conversationNotFound } from '../conversation/errors.ts'
import { parseOwner } from '../conversation/owner.ts'
import { findConversation } from '../conversation/queries.ts'
import type { ListRequest } from '../read/list.ts'
import { type ConversationFilter, noFilter } from '../read/list-filter.ts'
import type { ViewerContext } from './present.ts'
import type { ListQuery } from './schema.ts'

export interface InboxGuard {
  /** Lets a key in that has any of these scopes. */
  inbox(...scopes: ['inbox.read' | 'inbox.write']): onRequestHookHandler
  lookupLimits: LookupLimitOf
}

export const about = { tags: ['Inbox'], security: [{ apiKey: [] }] }

/** Throws 404 before the body or the query is looked at, as the order of checks has it. */
export function requireConversation(deps: Pick<InboxDeps, 'db'>): preParsingAsyncHookHandler {
  return async (request) => {
    await requireConversationRow(deps, request)
  }
}

/**
 * For a route whose own statement finds the conversation: what is wrong with a request is told of one that is there, and
 * 404 before it. So a request with which nothing is wrong is not looked up twice.
 */
export function checkConversationFirst(deps: Pick<InboxDeps, 'db'>) {
  return async (error: Error, request: FastifyRequest): Promise<never> => {
    if ('validation' in error || error instanceof InvalidInput) await requireConversationRow(deps, request)
    throw error
  }
}

/** Throws 404 when there is none that the key sees. */
export async function requireConversationRow(
  { db }: Pick<InboxDeps, 'db'>,
  request: FastifyRequest,
): Promise<ConversationRow> {
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
export async function limitLookups<T>(
  request: FastifyRequest,
  { lookupLimits }: InboxGuard,
  work: () => Promise<T>,
  isMissing: (answer: T) => boolean,
): Promise<T> {
  const { keyId, phoneVisibility } = callerOf(request)
  if (phoneVisibility === 'full') return work()
  return lookupLimits(keyId).spend(async (budget) => {
    if (budget.left() === 0) throw budget.refusal()
    const answer = await work()
    if (isMissing(answer)) budget.note()
    return answer
  })
}

/** How the request's key sees the inbox. */
export async function readViewerContext(
  deps: Pick<InboxDeps, 'keyStore' | 'clock'>,
  request: FastifyRequest,
): Promise<ViewerContext> {
  const { workspaceId, phoneVisibility } = callerOf(request)
  const keyring = await deps.keyStore.keyring(workspaceId)
  return { keyring, masked: phoneVisibility === 'masked', now: deps.clock.now() }
}

// No row has it: what is no id of a connection finds nothing rather than being refused.
const noConnectionId = '00000000-0000-0000-0000-000000000000'

/** Reads the query of a list; throws `InvalidInput` for an owner or a time that is none. */
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
  const time = readIsoTime(text)
  if (time === null) issues.push({ path, message: 'must be an ISO 8601 date or date-time that exists' })
  return time
}
