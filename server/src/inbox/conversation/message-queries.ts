import { unseenWorkspace } from '../../base/citus/distributed-sql.ts'
import { type Sql, setCommitProof, type Tx } from '../../base/db.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import type { Columns } from '../../base/postgres/rows.ts'
import { columnNames, unnested } from '../../base/postgres/rows.ts'
import { byteaArray, timestampArray } from '../../base/postgres/values.ts'
import type { Referral } from '../../channels/channel-event.ts'
import type { Scope, WorkspaceSql, WorkspaceTx } from './conversation.ts'
import type { InboundMarks } from './conversation-state.ts'
import { createExternalIndexOf, externalIndex } from './encrypted-conversation.ts'
import {
  decryptMessage,
  encryptMessage,
  type Message,
  type MessageRow,
  type StoredMessage,
  uniqueTime,
} from './message.ts'
import { isNamed, namedConversation } from './queries.ts'

export const messageColumns = (sql: Sql) => sql`
  m.id,
  m.conversation_id,
  m.connection_id,
  m.direction,
  m.kind,
  m.origin,
  m.content,
  m.external_id,
  m.status,
  m.error_code,
  m.actor_type,
  m.actor_id,
  m.occurred_at,
  m.created_at,
  m.settle_by`

/** When the first message of a conversation was sent; null when it has none. */
export async function findFirstMessageTime(
  sql: Sql,
  workspaceId: string,
  conversationId: string,
): Promise<Date | null> {
  const [row] = await sql<{ at: Date | null }[]>`
    select min(occurred_at) as at
    from messages
    where workspace_id = ${workspaceId}
      and conversation_id = ${conversationId}`
  return row?.at ?? null
}

/** Adds messages at the times that they have. Throws where one is there already, by its external id or at its time. */
export async function insertMessages(
  { tx, keyring, workspaceId }: WorkspaceTx,
  messages: readonly Message[],
  indexOf = createExternalIndexOf(keyring),
): Promise<void> {
  const [first] = messages
  if (first === undefined) return
  setCommitProof(tx, (sql) => isStored(sql, workspaceId, first.id))
  const rows = messages.map((message) => ({
    ...encryptMessage(keyring, message, indexOf),
    has_referral: message.referral !== null,
  }))
  await tx`
    insert into messages (workspace_id, ${columnNames(inserted)})
    select ${workspaceId}::uuid, n.*
    from ${unnested(rows, inserted)}`.execute()
}

const inserted = {
  uuid: ['id', 'conversation_id', 'connection_id', 'actor_id'],
  text: ['direction', 'kind', 'origin', 'status', 'error_code', 'actor_type'],
  boolean: ['has_referral'],
  bytea: ['content', 'external_index'],
  timestamptz: ['occurred_at', 'created_at', 'settle_by'],
} as const satisfies Columns<StoredMessage & { has_referral: boolean }>

async function isStored(sql: Sql, workspaceId: string, id: string): Promise<boolean> {
  const rows = await sql`
    select
    from messages
    where workspace_id = ${workspaceId}
      and id = ${id}`
  return rows.length > 0
}

/** A message of a connection by the platform's id. */
export interface ExternalId {
  connectionId: string
  externalId: string
}

/** Of ids that were asked for. */
export interface KnownIds {
  /** Those that their connections have already, be it as a part of a longer message. */
  known: ExternalId[]
  /** Those for which edits or the like wait, or of which reactions were taken back that are not here. */
  awaited: ExternalId[]
}

export async function findKnownIds(
  { sql, keyring, workspaceId }: WorkspaceSql,
  ids: readonly ExternalId[],
  indexOf = createExternalIndexOf(keyring),
): Promise<KnownIds> {
  if (ids.length === 0) return { known: [], awaited: [] }
  const indexes = ids.map(({ connectionId, externalId }) => indexOf(connectionId, externalId))
  const rows = await sql<{ place: number; isKnown: boolean }[]>`
    select n.place::integer, known.is_known as "isKnown"
    from unnest(${ids.map(({ connectionId }) => connectionId)}::uuid[], ${byteaArray(indexes)}::bytea[])
      with ordinality as n (connection_id, external_index, place)
    cross join lateral (
      (
        select true as is_known from messages m
        where m.workspace_id = ${unseenWorkspace(sql, workspaceId)}
          and m.connection_id = n.connection_id
          and m.external_index = n.external_index
        limit 1
      )
      union all
      (
        select true from message_parts p
        where p.workspace_id = ${unseenWorkspace(sql, workspaceId)}
          and p.connection_id = n.connection_id
          and p.external_index = n.external_index
        limit 1
      )
      union all
      (
        select false from parked_revisions r
        where r.workspace_id = ${unseenWorkspace(sql, workspaceId)}
          and r.connection_id = n.connection_id
          and r.about_index = n.external_index
        limit 1
      )
    ) as known`
  const idsThatAre = (isKnown: boolean) =>
    rows.flatMap((row) => (row.isKnown === isKnown ? (ids[row.place - 1] ?? []) : []))
  return { known: idsThatAre(true), awaited: idsThatAre(false) }
}

/** A stretch of a conversation's time. */
export interface TimeRange {
  conversationId: string
  from: Date
  to: Date
}

/** The times that messages have in these stretches, each with its end left out. */
export async function findTimes(
  sql: Sql,
  workspaceId: string,
  stretches: readonly TimeRange[],
): Promise<{ conversationId: string; at: Date }[]> {
  if (stretches.length === 0) return []
  const rows = await sql<{ conversation_id: string; occurred_at: Date }[]>`
    select n.conversation_id, m.occurred_at
    from unnest(
      ${stretches.map(({ conversationId }) => conversationId)}::uuid[],
      ${timestampArray(stretches.map(({ from }) => from))}::timestamptz[],
      ${timestampArray(stretches.map(({ to }) => to))}::timestamptz[]
    ) as n (conversation_id, began, ended)
    cross join lateral (
      select occurred_at from messages
      where workspace_id = ${unseenWorkspace(sql, workspaceId)}
        and conversation_id = n.conversation_id
        and occurred_at >= n.began
        and occurred_at < n.ended
      offset 0
    ) as m`
  return rows.map((row) => ({ conversationId: row.conversation_id, at: row.occurred_at }))
}

/** When something was sent last between two moments, both included; null when nothing was. */
export async function findNewestOutbound(
  sql: Sql,
  workspaceId: string,
  conversationId: string,
  { from, to }: { from: Date; to: Date },
): Promise<Date | null> {
  const [row] = await sql<{ occurred_at: Date }[]>`
    select occurred_at
    from messages
    where workspace_id = ${workspaceId}
      and conversation_id = ${conversationId}
      and occurred_at between ${from} and ${to}
      and direction = 'outbound'
    order by occurred_at desc
    limit 1`
  return row?.occurred_at ?? null
}

/** Lets statuses of an echo find it, as those of a send do. */
export async function addEchoPart(
  tx: Tx,
  keyring: Keyring,
  { workspaceId, id: connectionId }: { workspaceId: string; id: string },
  { id, externalId, status, errorCode }: Message,
): Promise<void> {
  const index = externalId === null ? null : externalIndex(keyring, connectionId, externalId)
  await tx`
    insert into message_parts (workspace_id, message_id, part, connection_id, external_index, status, error_code)
    values (${workspaceId}, ${id}, 1, ${connectionId}, ${index}, ${status}, ${errorCode})`
}

/** How far a message may be put behind the time that it asks for before more is looked at. */
export const rangeMs = 1000

/** The first free millisecond of a conversation, from this one on. */
export async function findFreeTime(
  sql: Sql,
  workspaceId: string,
  conversationId: string,
  requested: Date,
): Promise<Date> {
  for (let from = requested; ; from = new Date(from.getTime() + rangeMs)) {
    const to = new Date(from.getTime() + rangeMs)
    const taken = new Set((await findTimes(sql, workspaceId, [{ conversationId, from, to }])).map(({ at }) => +at))
    const free = uniqueTime(from, (timeMs) => taken.has(timeMs))
    if (free < to) return free
  }
}

/** The id of the message that the connection knows by this external id, be it a part of a longer one. */
export async function findByExternalIndex(
  sql: Sql,
  workspaceId: string,
  connectionId: string,
  index: Buffer,
): Promise<string | undefined> {
  const [row] = await sql<{ id: string }[]>`
    select m.id
    from messages m
    where m.workspace_id = ${workspaceId}
      and m.connection_id = ${connectionId}
      and m.external_index = ${index}
    union all
    select p.message_id as id
    from message_parts p
    where p.workspace_id = ${workspaceId}
      and p.connection_id = ${connectionId}
      and p.external_index = ${index}
    limit 1`
  return row?.id
}

/** How far the customer's messages of a conversation are seen and answered, and who owns it; undefined outside the scope. */
export async function findInboundMarks(
  sql: Sql,
  scope: Scope,
  conversationId: string,
): Promise<(InboundMarks & { ownerKeyId: string | null }) | undefined> {
  const [row] = await sql<(InboundMarks & { ownerKeyId: string | null })[]>`
    select
      c.newest_inbound_id as newest,
      c.seen_inbound_id as seen,
      c.answered_inbound_id as answered,
      c.owner_key_id as "ownerKeyId"
    from conversations c
    where ${isNamed(sql, scope, conversationId)}`
  return row
}

/** Whether the message is one of the conversation, which the scope has. */
export async function isMessageOf(sql: Sql, scope: Scope, conversationId: string, id: string): Promise<boolean> {
  const rows = await sql`
    select
    from messages m
    where m.workspace_id = ${scope.workspaceId}
      and m.id = ${id}
      and m.conversation_id = (${namedConversation(sql, scope, conversationId)})`
  return rows.length > 0
}

type InboundRow = Pick<MessageRow, 'id' | 'content' | 'external_id'>

/** The newest customer message, for telling the platform that it was read. */
export async function findNewestInbound(
  sql: Sql,
  workspaceId: string,
  conversationId: string,
): Promise<InboundRow | undefined> {
  const [row] = await sql<InboundRow[]>`
    select m.id, m.content, m.external_id
    from messages m
    where m.workspace_id = ${workspaceId}
      and m.conversation_id = ${conversationId}
      and m.direction = 'inbound'
      and m.kind <> 'system'
    order by m.occurred_at desc
    limit 1`
  return row
}

/** A message of the customer by its id. */
export async function findInbound(sql: Sql, workspaceId: string, id: string): Promise<InboundRow | undefined> {
  const [row] = await sql<InboundRow[]>`
    select m.id, m.content, m.external_id
    from messages m
    where m.workspace_id = ${workspaceId}
      and m.id = ${id}
      and m.direction = 'inbound'`
  return row
}

/** The ad that the customer came by last; null when they came by none. */
export async function findReferral(
  { sql, keyring, workspaceId }: WorkspaceSql,
  conversationId: string,
): Promise<Referral | null> {
  const [row] = await sql<MessageRow[]>`
    select ${messageColumns(sql)}
    from messages m
    where m.workspace_id = ${workspaceId}
      and m.conversation_id = ${conversationId}
      and m.has_referral
    order by m.occurred_at desc
    limit 1`
  return row === undefined ? null : decryptMessage(keyring, row).referral
}
