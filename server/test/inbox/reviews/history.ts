import { newId } from '../../../src/base/id.ts'
import type { World } from '../../support/world.ts'

/** What happened in a conversation, in the order of its times. */
export type Step =
  | { what: 'owner'; from: string; to: string; by: 'agent' | 'user' | 'system'; reason: string | null }
  | { what: 'status'; from: string; to: string }
  | { what: 'draft' }
  | { what: 'labels' }
  | { what: 'message'; by: 'customer' | 'user' | 'echo' | 'history' | 'failed' | 'system' | { agent: string } }

export type History = (Step & { at: Date })[]

export const minute = 60_000
export const hour = 60 * minute

/** Stores a conversation with this history; returns its id. */
export async function storeHistory(w: World & { connectionId: string }, history: History): Promise<string> {
  const { db, workspaceId, connectionId } = w
  const first = history[0]?.at ?? w.clock.now()
  const conversationId = newId(first)
  const common = { workspace_id: workspaceId, conversation_id: conversationId }
  const activities = history.flatMap((step) => {
    if (step.what === 'message') return []
    const { what, at, ...detail } = step
    const [reason, by] = step.what === 'owner' ? [step.reason, step.by] : [null, 'user']
    const row = { id: newId(at), kind: what, detail: { kind: what, ...detail }, reason, actor_type: by, created_at: at }
    return [{ ...common, ...row }]
  })
  const messages = history.flatMap((step) => (step.what === 'message' ? [{ ...common, ...messageOf(step) }] : []))
  await db.tx(async (tx) => {
    await tx`
      insert into conversations (
        workspace_id, id, connection_id, channel, contact, index_version, owner_since, status, last_message_at,
        created_at, updated_at
      )
      values (
        ${workspaceId}, ${conversationId}, ${connectionId}, 'waba', ${Buffer.alloc(1)}, 1, ${first}, 'open', ${first},
        ${first}, ${first}
      )`
    await tx`
      insert into conversation_activities
      select *
      from jsonb_to_recordset(${tx.json(activities)}) as r (
        workspace_id uuid, id uuid, conversation_id uuid, kind text, detail jsonb, reason text, actor_type text,
        actor_id uuid, created_at timestamptz
      )`
    await tx`
      insert into messages (
        workspace_id, id, conversation_id, connection_id, direction, kind, origin, content, status, actor_type, actor_id,
        occurred_at, created_at
      )
      select r.workspace_id, r.id, r.conversation_id, ${connectionId}::uuid, r.direction, r.kind, r.origin, ''::bytea,
        r.status, r.actor_type, r.actor_id, r.occurred_at, r.occurred_at
      from jsonb_to_recordset(${tx.json(messages)}) as r (
        workspace_id uuid, id uuid, conversation_id uuid, direction text, kind text, origin text, status text,
        actor_type text, actor_id uuid, occurred_at timestamptz
      )`
  })
  return conversationId
}

function messageOf({ by, at }: { by: Extract<Step, { what: 'message' }>['by']; at: Date }) {
  const agent = typeof by === 'object' ? by.agent : null
  return {
    id: newId(at),
    direction: by === 'customer' || by === 'system' ? 'inbound' : 'outbound',
    kind: by === 'system' ? 'system' : 'text',
    origin: by === 'echo' || by === 'history' ? by : 'live',
    status: by === 'failed' ? 'failed' : 'sent',
    actor_type: agent !== null ? 'agent' : by === 'user' || by === 'failed' || by === 'history' ? 'user' : null,
    actor_id: agent,
    occurred_at: at,
  }
}
