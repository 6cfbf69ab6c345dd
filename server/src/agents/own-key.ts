import { createHash } from 'node:crypto'
import { findNewestInbound } from '../inbox/conversation/message-queries.ts'
import type { AgentDeps } from './verb.ts'

/**
 * The idempotency key of what an agent says when it gives none: the same words after the same message of the customer are
 * the same thing said again, as when a call is repeated because its answer was lost.
 */
export async function keyFor(
  { inbox: { db } }: AgentDeps,
  workspaceId: string,
  conversationId: string,
  content: unknown,
): Promise<string> {
  const newest = await findNewestInbound(db.sql, workspaceId, conversationId)
  const said = JSON.stringify([conversationId, newest?.id ?? null, content])
  return `agent:${createHash('sha256').update(said).digest('base64url')}`
}
