import type { Tx } from '../../base/db.ts'
import { timestampArray } from '../../base/postgres/values.ts'
import type { Keyring } from '../../base/sealing/keyring.ts'
import { recordEvents } from '../../events/record.ts'
import { moveNotices } from '../../notices/notices.ts'
import { systemActor } from '../../workspace/actor.ts'
import { holdProgress } from '../search/progress.ts'
import { dropConversationTokens } from '../search/put-tokens.ts'
import { type ConversationChange, changeOwner, touched } from './change.ts'
import { recordDifference } from './commit-change.ts'
import type { Contact, Conversation } from './conversation.ts'
import { tellTeam } from './conversation-news.ts'
import { type InboundMarks, laterId, newestInbound } from './conversation-state.ts'
import { moveDispatches } from './dispatches.ts'
import { uniqueTime } from './message.ts'
import { human } from './owner.ts'

/**
 * Makes two conversations of one customer, both locked, into the older one: a customer was known by the platform's
 * user id in one and by the phone in the other until a message showed that they are one person. The older keeps its
 * id, and its owner unless people have the other; the id of the other goes on naming it. Returns the conversation as it is to be
 * stored, its events recorded.
 */
export async function mergeConversations(
  tx: Tx,
  keyring: Keyring,
  workspaceId: string,
  a: Conversation,
  b: Conversation,
  now: Date,
): Promise<Conversation> {
  const [older, younger] = isOlder(a, b) ? [a, b] : [b, a]
  await moveMessages(tx, workspaceId, younger.id, older.id)
  await moveDispatches(tx, workspaceId, younger.id, older.id)
  await moveTheRest(tx, workspaceId, younger.id, older.id)
  tellTeam(tx, workspaceId, [younger.id])
  const { conversation, events } = unite(older, younger, now)
  // The change of owner alone is news: all else one of the two had.
  const united = { ...conversation, owner: older.owner }
  await recordDifference(tx, workspaceId, united, conversation, { actor: systemActor, reason: 'merged' }, now)
  await recordEvents(tx, keyring, workspaceId, events, now)
  return conversation
}

function isOlder(a: Conversation, b: Conversation): boolean {
  return a.createdAt.getTime() === b.createdAt.getTime() ? a.id < b.id : a.createdAt < b.createdAt
}

/**
 * The rules of a merge: nothing unread, unanswered, labelled or open is lost, and what people have taken stays theirs, with the
 * hand-over and the assignee that it came with. An agent that had the older one has it no longer: what it sends is of a former epoch.
 */
export function unite(older: Conversation, younger: Conversation, now: Date): ConversationChange {
  const kept = older.held || !younger.held ? older : younger
  const latest = older.lastMessageAt < younger.lastMessageAt ? younger : older
  const isOpen = older.status === 'open' || younger.status === 'open'
  const united = {
    ...older,
    contact: uniteContacts(older, younger),
    status: isOpen ? 'open' : older.status,
    snoozedUntil: isOpen ? null : older.snoozedUntil,
    assignedTo: kept.assignedTo ?? older.assignedTo ?? younger.assignedTo,
    labelIds: [...new Set([...older.labelIds, ...younger.labelIds])],
    unreadCount: older.unreadCount + younger.unreadCount,
    windowExpiresAt: later(older.windowExpiresAt, younger.windowExpiresAt),
    lastMessageAt: latest.lastMessageAt,
    lastMessage: latest.lastMessage,
    unansweredSince: latest.unansweredSince === null ? null : earlier(older.unansweredSince, younger.unansweredSince),
    inbound: uniteMarks(older, younger),
  }
  if (!kept.held) return { conversation: touched(united, now), events: [] }
  const { conversation, events } = changeOwner(united, human, systemActor, now)
  const handover = kept.handover ?? older.handover ?? younger.handover
  return { conversation: touched({ ...conversation, held: true, handover }, now), events }
}

/** What either knows; the newer of two names. */
function uniteContacts(older: Conversation, younger: Conversation): Contact {
  const [a, b] = [older.contact, younger.contact]
  const named = [older, younger]
    .filter(({ contact }) => contact.name !== null)
    .sort((x, y) => namedAt(y) - namedAt(x))[0]
  const at = named && namedAt(named)
  const marketing = [a.marketing, b.marketing]
    .filter((one) => one !== undefined)
    .sort((x, y) => (x.at < y.at ? 1 : -1))[0]
  return {
    name: named?.contact.name ?? null,
    ...(marketing !== undefined && { marketing }),
    ...(at !== undefined && { nameAt: new Date(at).toISOString() }),
    phone: a.phone ?? b.phone,
    userId: a.userId ?? b.userId,
    parentUserId: a.parentUserId ?? b.parentUserId,
    address: { phone: a.address.phone ?? b.address.phone, userId: a.address.userId ?? b.address.userId },
  }
}

/** The agent goes on from where it was in its own; what waits in either is not answered. */
function uniteMarks(older: Conversation, younger: Conversation): InboundMarks {
  const [a, b] = [older.inbound, younger.inbound]
  const waiting = [older, younger].filter(({ unansweredSince }) => unansweredSince !== null)
  const newest = laterId(a.newest, b.newest)
  const answered = waiting.map(({ inbound }) => inbound.answered)
  const first = answered.includes(null) ? null : (answered.sort()[0] ?? newest)
  return { newest, seen: a.seen, answered: first }
}

const namedAt = ({ contact, windowExpiresAt }: Conversation): number =>
  new Date(contact.nameAt ?? newestInbound(windowExpiresAt) ?? 0).getTime()

const later = (a: Date | null, b: Date | null): Date | null => (a === null || (b !== null && b > a) ? b : a)
const earlier = (a: Date | null, b: Date | null): Date | null => (a === null || (b !== null && b < a) ? b : a)

async function moveMessages(tx: Tx, workspaceId: string, fromId: string, toId: string): Promise<void> {
  const rows = await tx<{ id: string; conversation_id: string; occurred_at: Date }[]>`
    select id, conversation_id, occurred_at
    from messages
    where workspace_id = ${workspaceId}
      and conversation_id in (${fromId}, ${toId})
    order by occurred_at`
  const taken = new Set(rows.flatMap((row) => (row.conversation_id === toId ? [row.occurred_at.getTime()] : [])))
  const moved = rows.filter((row) => row.conversation_id === fromId)
  const times = moved.map((row) => {
    const free = uniqueTime(row.occurred_at, (timeMs) => taken.has(timeMs))
    taken.add(free.getTime())
    return free
  })
  await tx`
    update messages m
    set conversation_id = ${toId},
      occurred_at = t.occurred_at
    from unnest(${moved.map((row) => row.id)}::uuid[], ${timestampArray(times)}::timestamptz[])
      as t (id, occurred_at)
    where m.workspace_id = ${workspaceId}
      and m.id = t.id`
}

async function moveTheRest(tx: Tx, workspaceId: string, fromId: string, toId: string): Promise<void> {
  await tx`
    update sends
    set conversation_id = ${toId}
    where workspace_id = ${workspaceId}
      and conversation_id = ${fromId}`
  await tx`
    update media
    set conversation_id = ${toId}
    where workspace_id = ${workspaceId}
      and conversation_id = ${fromId}`
  await tx`
    update conversation_notes
    set conversation_id = ${toId}
    where workspace_id = ${workspaceId}
      and conversation_id = ${fromId}`
  await tx`
    update conversation_handovers
    set conversation_id = ${toId}
    where workspace_id = ${workspaceId}
      and conversation_id = ${fromId}`
  await tx`
    update conversation_activities
    set conversation_id = ${toId}
    where workspace_id = ${workspaceId}
      and conversation_id = ${fromId}`
  await tx`
    update conversation_aliases
    set conversation_id = ${toId}
    where workspace_id = ${workspaceId}
      and conversation_id = ${fromId}`
  await moveNotices(tx, workspaceId, fromId, toId)
  await holdProgress(tx, workspaceId)
  await dropConversationTokens(tx, workspaceId, [fromId])
  await tx`
    with moved as (
      delete from moving_conversations
      where workspace_id = ${workspaceId}
        and conversation_id = ${fromId}
    )
    delete from conversations
    where workspace_id = ${workspaceId}
      and id = ${fromId}`
  await tx`
    insert into conversation_aliases (workspace_id, id, conversation_id)
    values (${workspaceId}, ${fromId}, ${toId})`
}
