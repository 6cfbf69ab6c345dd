import { hash } from 'node:crypto'
import type { Fragment, Sql, Tx } from '../../base/db.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import type { DeliveryStatus, MediaKind } from '../channel-event.ts'
import type { Choices } from '../interactive-options.ts'
import { publishVisitor, type Visitor } from './visitors.ts'

// The chat as visitors see it: what the messages of a platform's app are for other channels.

/** A message as the visitor sees it. */
export interface ChatContent {
  text: string
  /** The id that the visitor's device gave it. */
  clientId?: string
  /** What the inbox calls it; returned with its delivery. */
  correlator?: string
  file?: { id: string | null; kind: MediaKind; name: string | null; mimeType: string; size: number | null }
  choices?: Choices
  link?: { title: string; url: string }
  /** The message that it quotes or, with an emoji, reacts to. */
  about?: { id: string; text: string }
  /** Null removes the reaction. */
  emoji?: string | null
}

export interface ChatMessage {
  id: string
  seq: number
  direction: 'inbound' | 'outbound'
  status: Exclude<DeliveryStatus, 'failed'>
  content: ChatContent
  at: Date
}

const externalPrefix = 'web.'

/** The id of a chat message on this channel, as the inbox has it. */
export const externalIdOf = (id: string): string => externalPrefix + id
export const chatIdOf = (externalId: string): string => externalId.slice(externalPrefix.length)

/** Derives an id, so that a repeated request or send is the same message. */
export function derivedId(...parts: readonly string[]): string {
  const hex = hash('sha256', parts.join('\n'), 'hex')
  // The bits of a UUID that names are derived to (version 8).
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 0x3) | 0x8).toString(16)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

export const contentPlace = (id: string) => ({ table: 'website_messages', row: id, column: 'content' })

/**
 * Adds a message to the end of the chat; a message that is there stays as it is. The lock of the visitor makes numbers
 * ascend in the order of commits, so that a reader who continues after a number misses none. Returns false if the
 * visitor was erased.
 */
export async function addToChat(
  tx: Tx,
  keyring: Keyring,
  { workspaceId, connectionId, id: visitorId }: Pick<Visitor, 'workspaceId' | 'connectionId' | 'id'>,
  { id, direction, content, at }: Pick<ChatMessage, 'id' | 'direction' | 'content' | 'at'>,
): Promise<boolean> {
  const [visitor] = await tx<{ seq: number }[]>`
    update website_visitors
    set last_seq = last_seq + 1,
      version = version + 1,
      typing_until = case when ${direction === 'outbound'} then null else typing_until end
    where workspace_id = ${workspaceId}
      and id = ${visitorId}
      and connection_id = ${connectionId}
    returning last_seq as seq`
  if (visitor === undefined) return false
  const fileId = direction === 'outbound' ? (content.file?.id ?? null) : null
  await tx`
    insert into website_messages (
      workspace_id, id, connection_id, visitor_id, seq, direction, status, content, file_id, created_at
    )
    values (
      ${workspaceId}, ${id}, ${connectionId}, ${visitorId}, ${visitor.seq}, ${direction}, 'sent',
      ${keyring.encrypt(contentPlace(id), JSON.stringify(content))}, ${fileId}, ${at}
    )
    on conflict (workspace_id, id) do nothing`
  publishVisitor(tx, visitorId)
  return true
}

interface ChatRow extends Omit<ChatMessage, 'content'> {
  content: Buffer
}

const columns = (sql: Sql) => sql`m.id, m.seq, m.direction, m.status, m.content, m.created_at as "at"`

function decryptMessage(keyring: Keyring, { content, ...row }: ChatRow): ChatMessage {
  return { ...row, content: JSON.parse(keyring.decryptText(contentPlace(row.id), content)) as ChatContent }
}

type VisitorKey = Pick<Visitor, 'workspaceId' | 'id'>

/** Returns messages of the visitor's chat, filtered by the SQL in `more`. */
async function select(sql: Sql, keyring: Keyring, { workspaceId, id }: VisitorKey, more: Fragment) {
  const rows = await sql<ChatRow[]>`
    select ${columns(sql)}
    from website_messages m
    where m.workspace_id = ${workspaceId}
      and m.visitor_id = ${id}
      ${more}`
  return rows.map((row) => decryptMessage(keyring, row))
}

/** Returns up to `limit` messages after a number, oldest first; with null, the newest ones. */
export async function readChat(
  sql: Sql,
  keyring: Keyring,
  visitor: VisitorKey,
  after: number | null,
  limit: number,
): Promise<ChatMessage[]> {
  const page = sql`
      and m.seq > ${after ?? -1}
    order by m.seq ${after === null ? sql`desc` : sql`asc`}
    limit ${limit}`
  const messages = await select(sql, keyring, visitor, page)
  return messages.sort((a, b) => a.seq - b.seq)
}

/** Returns a message of the visitor's chat. */
export async function findInChat(
  sql: Sql,
  keyring: Keyring,
  visitor: VisitorKey,
  id: string,
): Promise<ChatMessage | undefined> {
  const [message] = await select(sql, keyring, visitor, sql`and m.id = ${id}`)
  return message
}

/** Whether a message of the team gave the visitor this file. */
export async function mayDownload(
  sql: Sql,
  { workspaceId, id: visitorId }: VisitorKey,
  fileId: string,
): Promise<boolean> {
  const rows = await sql`
    select id
    from website_messages
    where workspace_id = ${workspaceId}
      and visitor_id = ${visitorId}
      and direction = 'outbound'
      and file_id = ${fileId}
    limit 1`
  return rows.length > 0
}

const maxMarked = 100

/** Returns the team's messages up to a number that do not have this status yet, for the inbox to be told. */
export function findUnmarked(
  sql: Sql,
  keyring: Keyring,
  visitor: VisitorKey,
  { upTo, status }: { upTo: number; status: 'delivered' | 'read' },
): Promise<ChatMessage[]> {
  const unmarked = sql`
      and m.direction = 'outbound'
      and m.status <> 'read'
      and m.status <> ${status}
      and m.seq <= ${upTo}
    order by m.seq
    limit ${maxMarked}`
  return select(sql, keyring, visitor, unmarked)
}

export async function markInChat(
  tx: Tx,
  workspaceId: string,
  ids: readonly string[],
  status: 'delivered' | 'read',
): Promise<void> {
  await tx`
    update website_messages
    set status = ${status}
    where workspace_id = ${workspaceId}
      and id = any (${[...ids]}::uuid[])
      and status <> 'read'`
}

/** Shows the visitor that the team has read up to a message, and whether an answer is being written. */
export async function markTeamRead(
  tx: Tx,
  workspaceId: string,
  visitorId: string,
  { readId, typingUntil }: { readId: string | null; typingUntil: Date | null },
): Promise<void> {
  await tx`
    update website_visitors v
    set read_seq = greatest(
        read_seq,
        (
          select m.seq
          from website_messages m
          where m.workspace_id = ${workspaceId}
            and m.id = ${readId}::uuid
            and m.visitor_id = ${visitorId}
        )
      ),
      typing_until = ${typingUntil},
      version = version + 1
    where v.workspace_id = ${workspaceId}
      and v.id = ${visitorId}`
  publishVisitor(tx, visitorId)
}

interface ChatState {
  version: number
  lastSeq: number
  readSeq: number
  typingUntil: Date | null
}

/** Returns what changes a visitor's widget besides messages; undefined if the visitor was erased. */
export async function readState(sql: Sql, { workspaceId, id }: VisitorKey): Promise<ChatState | undefined> {
  const [row] = await sql<ChatState[]>`
    select version, last_seq as "lastSeq", read_seq as "readSeq", typing_until as "typingUntil"
    from website_visitors
    where workspace_id = ${workspaceId}
      and id = ${id}`
  return row
}

export const filePlace = (id: string) => ({ table: 'website_files', row: id, column: 'bytes' })

/** Bytes of files that wait for the inbox, in a workspace. */
const maxWaitingBytes = 512 * 1024 ** 2

/** Stores a visitor's file until the inbox has fetched it. Returns false if too many of the workspace wait. */
export async function storeFile(
  tx: Tx,
  keyring: Keyring,
  file: { workspaceId: string; visitorId: string; id: string; bytes: Buffer; at: Date },
): Promise<boolean> {
  const { workspaceId, visitorId, id, bytes, at } = file
  await tx`select pg_advisory_xact_lock(hashtextextended(${`website files ${workspaceId}`}, 0))`
  const [waiting] = await tx<{ bytes: number }[]>`
    select coalesce(sum(size_bytes), 0)::float8 as bytes
    from website_files
    where workspace_id = ${workspaceId}`
  if ((waiting?.bytes ?? 0) + bytes.length > maxWaitingBytes) return false
  await tx`
    insert into website_files (workspace_id, id, visitor_id, bytes, size_bytes, created_at)
    values (
      ${workspaceId}, ${id}, ${visitorId}, ${keyring.encrypt(filePlace(id), bytes)}, ${bytes.length}, ${at}
    )
    on conflict (workspace_id, id) do nothing`
  return true
}

export async function openFile(sql: Sql, keyring: Keyring, workspaceId: string, id: string): Promise<Buffer | null> {
  const [row] = await sql<{ bytes: Buffer }[]>`
    select bytes
    from website_files
    where workspace_id = ${workspaceId}
      and id = ${id}`
  return row === undefined ? null : keyring.decrypt(filePlace(id), row.bytes)
}
