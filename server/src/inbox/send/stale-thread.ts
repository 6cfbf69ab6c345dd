import type { Tx } from '../../base/db.ts'
import { invalid } from '../../base/errors.ts'
import { isUuid } from '../../base/id.ts'
import { unnested } from '../../base/postgres/rows.ts'
import type { Conversation, WorkspaceTx } from '../conversation/conversation.ts'
import {
  hasUnseenMessages,
  laterId,
  type SeenPosition,
  type UnseenMessages,
  waitingSince,
} from '../conversation/conversation-state.ts'
import { decryptMessage, type Message, type MessageRow } from '../conversation/message.ts'
import { messageColumns } from '../conversation/message-queries.ts'
import { opaqueWorkspaceId } from '../conversation/queries.ts'
import type { Sender } from './send-deps.ts'

/** How many messages back it looks for newer ones; if there are more, at least one of these is newer. */
const maxLookBack = 50

/** Field of a member's send with the newest message they have seen. */
export const lastSeenField = 'if_last_message_id'

/** Field of a member's send that sends it although a budget is used up. */
export const overBudgetField = 'over_budget'

interface MemberFields {
  lastSeenId: string | null
  isOverBudget: boolean
  rest: unknown
}

/** Removes the fields of a member's body, which then equals an agent's. Throws 400 for invalid ones. */
export function splitMemberFields(body: unknown): MemberFields {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    return { lastSeenId: null, isOverBudget: false, rest: body }
  const { [lastSeenField]: id, [overBudgetField]: isOverBudget = false, ...rest } = body as MemberBody
  if (typeof isOverBudget !== 'boolean') throw invalid(overBudgetField, 'must be boolean')
  return { lastSeenId: id === undefined ? null : parseLastSeen(id), isOverBudget, rest }
}

function parseLastSeen(id: unknown): string {
  if (typeof id !== 'string' || !isUuid(id)) throw invalid(lastSeenField, 'must be the id of a message')
  return id.toLowerCase()
}

type MemberBody = Partial<Record<typeof lastSeenField | typeof overBudgetField, unknown>>

/**
 * Returns the newest message by the customer or another sender after the last one that the sender has seen; null if
 * there is none. Requires the conversation's lock. Throws 400 if the conversation has no such message.
 */
export async function findNewerThan(
  { tx, keyring, workspaceId }: WorkspaceTx,
  actor: Sender['actor'],
  conversationId: string,
  lastSeenId: string,
): Promise<Message | null> {
  const [seen] = await tx<Pick<MessageRow, 'occurred_at' | 'created_at'>[]>`
    select m.occurred_at, m.created_at
    from messages m
    where m.workspace_id = ${workspaceId}
      and m.id = ${lastSeenId}
      and m.conversation_id = ${conversationId}`
  if (seen === undefined) throw invalid(lastSeenField, 'must be a message of this conversation')
  const rows = await tx<MessageRow[]>`
    select ${messageColumns(tx)}
    from messages m
    where m.workspace_id = ${workspaceId}
      and m.conversation_id = ${conversationId}
    order by m.occurred_at desc
    limit ${maxLookBack}`
  const newer = rows.find((row) => row.id !== lastSeenId && isNewer(row, seen) && !isBy(row, actor))
  return newer === undefined ? null : decryptMessage(keyring, newer)
}

// A message that arrived late is sorted earlier but still counts as newer.
function isNewer(row: MessageRow, seen: Pick<MessageRow, 'occurred_at' | 'created_at'>): boolean {
  if (row.kind === 'system' || row.origin === 'history') return false
  return row.occurred_at > seen.occurred_at || row.created_at > seen.created_at
}

const isBy = (row: MessageRow, actor: Sender['actor']) => row.actor_type === actor.type && row.actor_id === actor.id

/** An agent's answer in a locked conversation, and how far the agent had seen. */
export interface AgentSend {
  /** Null if it is not locked: nothing is sent there. */
  conversation: Pick<Conversation, 'id' | 'unansweredSince' | 'inbound'> | null
  seen: SeenPosition | null
}

// Reads at most this many newest messages.
const maxDepth = 1000

/**
 * Returns what each of these answers leaves unanswered, in the same order; null if nothing. Requires the conversations'
 * locks. Runs no statement unless a customer wrote after what an agent had seen.
 */
export async function findUnseen(
  tx: Tx,
  workspaceId: string,
  sends: readonly AgentSend[],
): Promise<(UnseenMessages | null)[]> {
  const checks = sends.flatMap(({ conversation, seen }, place) =>
    conversation === null || seen === null || !hasUnseenMessages(conversation, seen)
      ? []
      : [{ place, conversationId: conversation.id, afterId: laterId(conversation.inbound.answered, seen.id) }],
  )
  if (checks.length === 0) return sends.map(() => null)
  const workspace = opaqueWorkspaceId(tx, workspaceId)
  const rows = await tx<{ place: number; occurred_at: Date; created_at: Date }[]>`
    select n.place, m.occurred_at, m.created_at
    from ${unnested(checks, { integer: ['place'], uuid: ['conversationId', 'afterId'] })}
    cross join lateral (
      select id, direction, kind, origin, occurred_at, created_at
      from messages
      where workspace_id = ${workspace}
        and conversation_id = n.conversation_id
      order by workspace_id desc, conversation_id desc, occurred_at desc
      limit ${maxDepth}
    ) as m
    where m.id > n.after_id
      and m.direction = 'inbound'
      and m.kind <> 'system'
      and m.origin = 'live'
    order by n.place, m.id`
  const byPlace = Map.groupBy(rows, ({ place }) => place)
  return sends.map((_, place) => {
    const [first, ...more] = byPlace.get(place) ?? []
    return first === undefined
      ? null
      : { count: more.length + 1, since: waitingSince(first.occurred_at, first.created_at) }
  })
}
