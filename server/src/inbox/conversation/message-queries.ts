import { hiddenWorkspace } from '../../base/citus/distributed-sql.ts'
import { insertedRows } from '../../base/citus/few-rows.ts'
import { type Sql, setCommitProof, type Tx } from '../../base/db.ts'
import { type Columns, columnNames } from '../../base/postgres/rows.ts'
import { byteaArray, timestampArray } from '../../base/postgres/values.ts'
import type { Referral } from '../../channels/channel-event.ts'
import { firstTime, type Scope, type WorkspaceSql, type WorkspaceTx } from './conversation.ts'
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
import { matchesConversationId, resolvedConversationId } from './queries.ts'

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

/** Returns the time of the first message of a conversation; null if it has none. */
export const findFirstMessageTime = (sql: Sql, workspaceId: string, conversationId: string): Promise<Date | null> =>
  firstTime(sql<{ at: Date | null }[]>`
    select min(occurred_at) as at
    from messages
    where workspace_id = ${workspaceId}
      and conversation_id = ${conversationId}`)

/** Inserts messages at the times that they have. Throws if the external id or the time is already in use. */
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
    insert into messages (workspace_id, ${columnNames(insertColumns)})
    ${insertedRows(tx, tx`${workspaceId}::uuid`, rows, insertColumns)}`.execute()
}

const insertColumns = {
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

export interface ExternalId {
  connectionId: string
  externalId: string
}

/** What is known about a list of external ids. */
export interface KnownIds {
  /** Ids that exist on their connections, including as a part of a longer message. */
  known: ExternalId[]
  /** Ids with parked edits or withdrawals, or with removed reactions that were never stored. */
  withParkedRevisions: ExternalId[]
}

export async function findKnownIds(
  { sql, keyring, workspaceId }: WorkspaceSql,
  ids: readonly ExternalId[],
  indexOf = createExternalIndexOf(keyring),
): Promise<KnownIds> {
  if (ids.length === 0) return { known: [], withParkedRevisions: [] }
  const indexes = ids.map(({ connectionId, externalId }) => indexOf(connectionId, externalId))
  const rows = await sql<{ place: number; isKnown: boolean }[]>`
    select n.place::integer, known.is_known as "isKnown"
    from unnest(${ids.map(({ connectionId }) => connectionId)}::uuid[], ${byteaArray(indexes)}::bytea[])
      with ordinality as n (connection_id, external_index, place)
    cross join lateral (
      (
        select true as is_known from messages m
        where m.workspace_id = ${hiddenWorkspace(sql, workspaceId)}
          and m.connection_id = n.connection_id
          and m.external_index = n.external_index
        limit 1
      )
      union all
      (
        select true from message_parts p
        where p.workspace_id = ${hiddenWorkspace(sql, workspaceId)}
          and p.connection_id = n.connection_id
          and p.external_index = n.external_index
        limit 1
      )
      union all
      (
        select false from parked_revisions r
        where r.workspace_id = ${hiddenWorkspace(sql, workspaceId)}
          and r.connection_id = n.connection_id
          and r.about_index = n.external_index
        limit 1
      )
    ) as known`
  const idsWhere = (isKnown: boolean) =>
    rows.flatMap((row) => (row.isKnown === isKnown ? (ids[row.place - 1] ?? []) : []))
  return { known: idsWhere(true), withParkedRevisions: idsWhere(false) }
}

export interface TimeRange {
  conversationId: string
  from: Date
  to: Date
}

/** Returns the times of the messages in these ranges; `to` is excluded. */
export async function findTimes(
  sql: Sql,
  workspaceId: string,
  ranges: readonly TimeRange[],
): Promise<{ conversationId: string; at: Date }[]> {
  if (ranges.length === 0) return []
  const rows = await sql<{ conversation_id: string; occurred_at: Date }[]>`
    select n.conversation_id, m.occurred_at
    from unnest(
      ${ranges.map(({ conversationId }) => conversationId)}::uuid[],
      ${timestampArray(ranges.map(({ from }) => from))}::timestamptz[],
      ${timestampArray(ranges.map(({ to }) => to))}::timestamptz[]
    ) as n (conversation_id, began, ended)
    cross join lateral (
      select occurred_at from messages
      where workspace_id = ${hiddenWorkspace(sql, workspaceId)}
        and conversation_id = n.conversation_id
        and occurred_at >= n.began
        and occurred_at < n.ended
      offset 0
    ) as m`
  return rows.map((row) => ({ conversationId: row.conversation_id, at: row.occurred_at }))
}

/** Returns the newest outbound message between two times, both included; null if there is none. */
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

/** Inserts a part for an echo, so that statuses find it like those of a send. */
export async function addEchoPart(
  { tx, keyring, workspaceId }: WorkspaceTx,
  { id, connectionId, externalId, status, errorCode }: Message,
): Promise<void> {
  const index = externalId === null ? null : externalIndex(keyring, connectionId, externalId)
  await tx`
    insert into message_parts (workspace_id, message_id, part, connection_id, external_index, status, error_code)
    values (${workspaceId}, ${id}, 1, ${connectionId}, ${index}, ${status}, ${errorCode})`
}

/** How far behind the requested time a message can be put before another range is read. */
export const rangeMs = 1000

/** Returns the first free millisecond of a conversation at or after the requested time. */
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

/** Returns the id of the message with this external id, including as a part of a longer message. */
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

/** Returns how far customer messages are seen and answered, and the owner; undefined outside the scope. */
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
    where ${matchesConversationId(sql, scope, conversationId)}`
  return row
}

/** Returns whether the message belongs to the conversation and the conversation to the scope. */
export async function isMessageOf(sql: Sql, scope: Scope, conversationId: string, id: string): Promise<boolean> {
  const rows = await sql`
    select
    from messages m
    where m.workspace_id = ${scope.workspaceId}
      and m.id = ${id}
      and m.conversation_id = (${resolvedConversationId(sql, scope, conversationId)})`
  return rows.length > 0
}

/** Returns how many messages of the platform a send became. */
export async function countParts(sql: Sql, workspaceId: string, messageId: string): Promise<number> {
  const [row] = await sql<{ parts: number }[]>`
    select count(*)::integer as parts
    from message_parts
    where workspace_id = ${workspaceId}
      and message_id = ${messageId}`
  return row?.parts ?? 0
}

type InboundRow = Pick<MessageRow, 'id' | 'content' | 'external_id'>

/** Returns the newest customer message, for read receipts. */
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

export async function findInbound(sql: Sql, workspaceId: string, id: string): Promise<InboundRow | undefined> {
  const [row] = await sql<InboundRow[]>`
    select m.id, m.content, m.external_id
    from messages m
    where m.workspace_id = ${workspaceId}
      and m.id = ${id}
      and m.direction = 'inbound'`
  return row
}

/** Returns the ad that last brought the customer; null if none did. */
export async function findReferral(reader: WorkspaceSql, conversationId: string): Promise<Referral | null> {
  const { sql, keyring, workspaceId } = reader
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

/**
 * Makes looking up an id and parking its status atomic, as well as storing the id and reading parked statuses: the
 * second transaction sees the first. Holds the locks until the transaction ends.
 */
export const lockExternalIds = (tx: Tx, indexes: readonly Buffer[]): Promise<void> => lockIds(tx, indexes, 0)

/** `part`: byte offset in the digest of the number to lock. */
export async function lockIds(tx: Tx, indexes: readonly Buffer[], part: number): Promise<void> {
  const hashes = [...new Set(indexes.map((index) => index.readBigInt64BE(part)))].sort((a, b) => (a < b ? -1 : 1))
  if (hashes.length === 0) return
  await tx`
    select pg_advisory_xact_lock(h.hash)
    from (select hash from unnest(${hashes.map(String)}::bigint[]) as u (hash) order by hash offset 0) as h`.execute()
}
