import { randomBytes } from 'node:crypto'
import type { Db } from '../server/src/base/db.ts'
import type { Keyring } from '../server/src/base/encryption/keyring.ts'
import { newId } from '../server/src/base/id.ts'
import type { Conversation } from '../server/src/inbox/conversation/conversation.ts'
import { noMarks } from '../server/src/inbox/conversation/conversation-state.ts'
import { encryptConversation } from '../server/src/inbox/conversation/encrypted-conversation.ts'
import { encryptMessage, type Message } from '../server/src/inbox/conversation/message.ts'
import { agent, human } from '../server/src/inbox/conversation/owner.ts'
import { encryptLead } from '../server/src/leads/lead/encrypted-lead.ts'
import type { Lead } from '../server/src/leads/lead/lead.ts'

const statuses = ['open', 'open', 'open', 'open', 'pending', 'resolved', 'resolved', 'closed'] as const
const leadStatuses = ['new', 'new', 'new', 'contacted', 'qualified', 'won', 'lost'] as const

export interface Filling {
  db: Db
  keyring: Keyring
  workspaceId: string
  now: Date
}

/** Inserts conversations as the product stores them, one per minute back from now; returns their ids, newest first. */
export async function fillConversations(
  filling: Filling,
  { connectionId, keyId, count }: { connectionId: string; keyId: string; count: number },
): Promise<string[]> {
  const { keyring, workspaceId, now } = filling
  const conversations = Array.from({ length: count }, (_, n): Conversation => {
    const phone = String(5511900000000 + n)
    const at = new Date(now.getTime() - n * 60_000)
    const isWaiting = n % 10 === 0
    return {
      id: newId(now),
      connectionId,
      channel: 'waba',
      contact: { name: `Ana ${n}`, phone, userId: null, parentUserId: null, address: { phone, userId: null } },
      owner: n % 3 === 0 ? human : agent(keyId),
      ownerEpoch: 1,
      ownerSince: at,
      held: false,
      handover: null,
      thread: null,
      status: statuses[n % statuses.length] ?? 'open',
      snoozedUntil: null,
      assignedTo: null,
      teamId: null,
      labelIds: [],
      unreadCount: isWaiting ? 1 : 0,
      windowExpiresAt: new Date(now.getTime() + 3_600_000),
      lastMessageAt: at,
      unansweredSince: isWaiting ? at : null,
      inbound: noMarks,
      lastMessage: { direction: 'inbound', kind: 'text', text: 'Hello, is the blue one still there?' },
      createdAt: at,
      updatedAt: at,
    }
  })
  await insertRows(
    filling,
    'conversations',
    conversations.map((one) => ({ workspace_id: workspaceId, ...encryptConversation(keyring, one) })),
  )
  return conversations.map(({ id }) => id)
}

/** Inserts messages that can be decrypted, `each` per conversation. */
export async function fillMessages(filling: Filling, connectionId: string, ids: readonly string[], each: number) {
  const { keyring, workspaceId, now } = filling
  const messages = ids.flatMap((conversationId) =>
    Array.from({ length: each }, (_, n): Message => {
      const at = new Date(now.getTime() - 86_400_000 + n * 1000)
      const isInbound = n % 2 === 0
      return {
        id: newId(now),
        conversationId,
        connectionId,
        direction: isInbound ? 'inbound' : 'outbound',
        kind: 'text',
        origin: 'live',
        text: `Message ${n} of a conversation of some length, as people write them.`,
        referral: null,
        externalId: `wamid.${randomBytes(12).toString('hex')}`,
        status: 'delivered',
        errorCode: null,
        actor: isInbound ? null : { type: 'system', id: null },
        occurredAt: at,
        createdAt: at,
        settleBy: null,
      }
    }),
  )
  const rows = messages.map((one) => ({ workspace_id: workspaceId, ...encryptMessage(keyring, one) }))
  await insertRows(filling, 'messages', rows)
}

/** Message sent by a connection, with its platform id. */
export interface SentMessage {
  id: string
  externalId: string
}

/** Inserts messages sent from `from` on, each in one part and with no later status, in turn to each conversation. */
export async function fillSent(
  filling: Filling,
  connectionId: string,
  ids: readonly string[],
  { each, from }: { each: number; from: Date },
): Promise<SentMessage[]> {
  const { keyring, workspaceId, now } = filling
  const messages = Array.from({ length: each * ids.length }, (_, n): Message => {
    const at = new Date(from.getTime() + Math.floor(n / ids.length) * 1000)
    return {
      id: newId(now),
      conversationId: ids[n % ids.length] ?? '',
      connectionId,
      direction: 'outbound',
      kind: 'text',
      origin: 'live',
      text: 'Good morning! It is still there, and we are open until six.',
      referral: null,
      externalId: `wamid.${randomBytes(24).toString('hex')}`,
      status: 'sent',
      errorCode: null,
      actor: { type: 'system', id: null },
      occurredAt: at,
      createdAt: at,
      settleBy: null,
    }
  })
  const rows = messages.map((one) => ({ workspace_id: workspaceId, ...encryptMessage(keyring, one) }))
  await insertRows(filling, 'messages', rows)
  const parts = rows.map(({ id, external_index }) => ({ message_id: id, part: 1, external_index, status: 'sent' }))
  await insertRows(
    filling,
    'message_parts',
    parts.map((part) => ({ workspace_id: workspaceId, connection_id: connectionId, ...part })),
  )
  return messages.map(({ id, externalId }) => ({ id, externalId: externalId ?? '' }))
}

/** Random bytes that no key decrypts. The first byte marks them as unencrypted, so they never name a loadable key. */
const undecryptableBytes = (length: number): Buffer => Buffer.concat([Buffer.alloc(1), randomBytes(length - 1)])

/** Inserts messages and parts of a typical size that cannot be decrypted, `each` per conversation. */
export async function fillUndecryptableMessages(
  { db, workspaceId, now }: Filling,
  ids: readonly string[],
  each: number,
) {
  for (let at = 0; at < ids.length; at += 2000) {
    await db.tx(async (tx) => {
      await tx`
        insert into messages (
          workspace_id, id, conversation_id, connection_id, direction, kind, origin, content, external_id,
          external_index, status, occurred_at, created_at
        )
        select c.workspace_id, gen_random_uuid(), c.id, c.connection_id, case n % 2 when 0 then 'inbound' else 'outbound' end,
          'text', 'live', ${undecryptableBytes(120)}::bytea, ${randomBytes(60)}::bytea, uuid_send(gen_random_uuid()), 'delivered',
          ${now}::timestamptz - n * interval '1 minute', ${now}
        from conversations c
        cross join generate_series(1, ${each}::integer) n
        where c.workspace_id = ${workspaceId}
          and c.id = any (${ids.slice(at, at + 2000)}::uuid[])`
    })
  }
}

/** Inserts three activities and two notes per conversation; 40 of the notes mention the member. */
export async function fillThreads({ db, keyring, workspaceId, now }: Filling, ids: readonly string[], userId: string) {
  await db.sql`
    insert into conversation_activities (
      workspace_id, id, conversation_id, kind, detail, actor_type, created_at
    )
    select ${workspaceId}, gen_random_uuid(), c.id, 'status', '{"kind":"status","from":"open","to":"pending","snoozedUntil":null}',
      'system', ${now}::timestamptz - n * interval '1 minute'
    from unnest(${[...ids]}::uuid[]) as c (id)
    cross join generate_series(1, 3) n`
  const notes = ids.flatMap((conversationId) =>
    [1, 2].map((n) => {
      const id = newId(now)
      const at = new Date(now.getTime() - n * 90_000)
      const text = keyring.encrypt({ table: 'conversation_notes', row: id, column: 'text' }, 'Call back')
      return {
        workspace_id: workspaceId,
        id,
        conversation_id: conversationId,
        text,
        actor_type: 'user',
        actor_id: userId,
        created_at: at,
      }
    }),
  )
  await insertRows({ db, keyring, workspaceId, now }, 'conversation_notes', notes)
  const mentioned = notes.slice(0, 40).map(({ id }) => id)
  await db.sql`
    insert into note_mentions (workspace_id, note_id, user_id, created_at)
    select ${workspaceId}, id, case when id = any (${mentioned}::uuid[]) then ${userId}::uuid else gen_random_uuid() end, ${now}
    from unnest(${notes.map(({ id }) => id)}::uuid[]) as n (id)`
}

/** Inserts traces of activity: parts and answers of sends, status changes, and an event per conversation and lead. */
export async function fillActivityTraces({ db, workspaceId, now }: Filling): Promise<void> {
  await db.sql`
    insert into message_parts (workspace_id, message_id, part, connection_id, external_index, status)
    select workspace_id, id, 0, connection_id, uuid_send(gen_random_uuid()), 'delivered'
    from messages
    where workspace_id = ${workspaceId}
      and direction = 'outbound'
    on conflict do nothing`
  await db.sql`
    insert into sends (
      workspace_id, sender_id, idempotency_key, fingerprint, conversation_id, message_id, answer_status, answer_body,
      created_at
    )
    select workspace_id, conversation_id, id::text, uuid_send(id), conversation_id, id, 202, '{}', created_at
    from messages
    where workspace_id = ${workspaceId}
      and direction = 'outbound'
    on conflict do nothing`
  await db.sql`
    insert into lead_status_changes (workspace_id, id, lead_id, from_status, to_status, actor_type, changed_at)
    select workspace_id, gen_random_uuid(), id, 'new', 'contacted', 'system', created_at
    from leads
    where workspace_id = ${workspaceId}`
  await db.sql`
    insert into events (workspace_id, id, name, subject_id, payload, occurred_at, position)
    select ${workspaceId}, gen_random_uuid(), 'seed', id, ${undecryptableBytes(300)}::bytea, ${now}, row_number() over ()
    from (
      select id from conversations where workspace_id = ${workspaceId}
      union all
      select id from leads where workspace_id = ${workspaceId}
    ) as subjects`
}

/** Inserts leads as the product stores them, with search tokens that match nothing. */
export async function fillLeads(filling: Filling, count: number): Promise<string[]> {
  const { db, keyring, workspaceId, now } = filling
  const leads = Array.from({ length: count }, (_, n): Lead => {
    const at = new Date(now.getTime() - n * 60_000)
    return {
      id: newId(now),
      uniqueCode: `SEED${String(n).padStart(8, '0')}`,
      externalRef: `seed-${n}`,
      firstName: 'Ana',
      lastName: `Silva ${n}`,
      email: `ana${n}@example.com`,
      phone: String(5511900000000 + n),
      status: leadStatuses[n % leadStatuses.length] ?? 'new',
      priority: n % 20 === 0 ? 'urgent' : 'medium',
      source: n % 15 === 0 ? 'ads' : 'website',
      adPlatform: n % 15 === 0 ? 'meta' : null,
      assignedTo: null,
      estimatedValue: null,
      actualValue: null,
      notes: 'Asked for a quote by the end of the month, and to be called in the afternoon rather than in the morning.',
      customFields: [],
      createdAt: at,
      updatedAt: at,
      deletedAt: null,
    } as Lead
  })
  const rows = leads.map((one) => ({ workspace_id: workspaceId, ...encryptLead(keyring, one) }))
  await insertRows(filling, 'leads', rows)
  await db.sql`
    insert into lead_search (workspace_id, lead_id, index_version, tokens)
    select l.workspace_id, l.id, l.index_version, array(
      select hashtext(l.id::text || n) % 200000 from generate_series(1, 30) n
    )
    from leads l
    where l.workspace_id = ${workspaceId}
    on conflict do nothing`
  return leads.map(({ id }) => id)
}

/** Inserts rows into any table, two thousand per statement. */
async function insertRows({ db }: Filling, table: string, rows: readonly object[]): Promise<void> {
  const columns = Object.keys(rows[0] ?? {}).join(', ')
  for (let at = 0; at < rows.length; at += 2000) {
    const batch = JSON.stringify(rows.slice(at, at + 2000), (_, value) => bytesAsHex(value))
    await db.sql.unsafe(
      `insert into ${table} (${columns}) select ${columns} from jsonb_populate_recordset(null::${table}, $1::text::jsonb)`,
      [batch],
    )
  }
}

// Converts the JSON form of a Buffer.
function bytesAsHex(value: unknown): unknown {
  const isBytes = typeof value === 'object' && value !== null && 'type' in value && value.type === 'Buffer'
  return isBytes && 'data' in value ? `\\x${Buffer.from(value.data as number[]).toString('hex')}` : value
}
