import { createHash } from 'node:crypto'
import { invalid } from '../base/errors.ts'
import type { SeenUpTo } from '../inbox/conversation/conversation-state.ts'
import { findInboundMarks, findNewestInbound, isMessageOf } from '../inbox/conversation/message-queries.ts'
import { findFor } from './shown/find-for.ts'
import { scopeOf } from './shown/sight.ts'
import type { AgentCaller, AgentDeps } from './verb.ts'

/**
 * The idempotency key of what an agent says when it gives none: the same words in the same state of the conversation, as
 * the agent has seen it, are the same thing said again, as when a call is repeated because its answer was lost.
 */
export function keyFor(conversationId: string, state: unknown, content: unknown): string {
  const said = JSON.stringify([conversationId, state, content])
  return `agent:${createHash('sha256').update(said).digest('base64url')}`
}

/**
 * How far the agent has seen the conversation that it answers: up to the message that it `named`, else up to what it was
 * shown. Of one that was shown nothing since it has the conversation nobody knows: up to what is there now. Null where the
 * customer has written nothing. Throws 400 for a message of another conversation.
 */
export async function seenBy(
  deps: AgentDeps,
  caller: AgentCaller,
  conversationId: string,
  named: string | undefined,
): Promise<SeenUpTo | null> {
  const { sql } = deps.inbox.db
  if (named !== undefined) {
    if (await isMessageOf(sql, scopeOf(caller), conversationId, named)) return { id: named, isNamed: true }
    await findFor(deps, caller, conversationId)
    throw invalid('after_message_id', 'must be a message of this conversation')
  }
  const { seen = null, newest = null } = (await marksOf(deps, caller, conversationId)) ?? {}
  const id = seen ?? newest ?? (await findNewestInbound(sql, caller.workspaceId, conversationId))?.id ?? null
  return id === null ? null : { id, isNamed: false }
}

/** The newest message of the customer that the agent was shown while it has the conversation; null when it was shown none. */
export async function shownTo(deps: AgentDeps, caller: AgentCaller, conversationId: string): Promise<string | null> {
  return (await marksOf(deps, caller, conversationId))?.seen ?? null
}

/** What another agent was shown this one has not seen. */
async function marksOf({ inbox }: AgentDeps, caller: AgentCaller, conversationId: string) {
  const marks = await findInboundMarks(inbox.db.sql, scopeOf(caller), conversationId)
  return marks && { ...marks, seen: marks.ownerKeyId === caller.keyId ? marks.seen : null }
}
