import type { Sql } from '../../base/db.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import type { EncryptedColumns } from '../../base/encryption/plaintext-cache.ts'
import { byteaArray } from '../../base/postgres/values.ts'
import type { MediaKind } from '../../channels/channel-event.ts'
import { firstEmoji } from '../../channels/untrusted-values.ts'
import type { ReadDeps, WorkspaceSql } from '../conversation/conversation.ts'
import { externalIndex } from '../conversation/encrypted-conversation.ts'
import { opaqueWorkspaceId } from '../conversation/queries.ts'
import type { MediaDetails, MediaState } from '../media/media.ts'
import { decryptMessageView, type MessageView, type MessageViewRow, messageViewColumns } from './read-messages.ts'

/** Related data of messages on a page. */
export interface MessageDetails {
  media(message: MessageView): MediaView | null
  /** Returns the message of the conversation with this platform id; null if it is unknown. */
  referenced(message: MessageView, externalId: string): MessageView | null
  /** Returns the current reactions to a message, at most one per side. */
  reactions(message: MessageView): MessageView[]
}

/**
 * Reads related data of one conversation's messages: one statement each for files, for quoted messages and targets of
 * reactions, and for reactions. Skips statements that no message needs.
 */
export async function readDetails(
  { db, keyStore }: ReadDeps,
  workspaceId: string,
  messages: readonly MessageView[],
): Promise<MessageDetails> {
  const mediaIds = messages.flatMap(({ detail }) => detail?.media?.id ?? [])
  const reactionIds = [...new Set(messages.flatMap((message) => message.reactionIds ?? []))]
  const onPage = new Map(
    messages.flatMap((one) => (one.externalId === null ? [] : [[messageKey(one, one.externalId), one]])),
  )
  const unknown = messages.flatMap((message) =>
    referencedIds(message).flatMap((externalId) =>
      onPage.has(messageKey(message, externalId)) ? [] : [{ message, externalId }],
    ),
  )
  const [media, reactions, found] = await keyStore.withKeyring(workspaceId, (keyring) =>
    Promise.all([
      selectMedia({ sql: db.sql, keyring, workspaceId }, mediaIds),
      selectReactions({ sql: db.sql, keyring, workspaceId }, reactionIds),
      selectReferenced({ sql: db.sql, keyring, workspaceId }, unknown),
    ]),
  )
  const byKey = new Map([...onPage, ...found])
  return {
    media: ({ detail }) => (detail?.media === undefined ? null : (media.get(detail.media.id) ?? null)),
    referenced: (message, externalId) => byKey.get(messageKey(message, externalId)) ?? null,
    reactions: ({ reactionIds: ids = [] }) => currentReactions(ids.flatMap((id) => reactions.get(id) ?? [])),
  }
}

const messageKey = ({ connectionId }: MessageView, externalId: string) => `${connectionId} ${externalId}`

const referencedIds = ({ detail }: MessageView): string[] =>
  [detail?.quoted?.externalId, detail?.reaction?.externalId].filter((id) => id !== undefined)

/** Each side has at most one reaction to a message: its newest, unless removed. */
function currentReactions(reactions: readonly MessageView[]): MessageView[] {
  const sent = reactions
    .filter(({ status, detail }) => status !== 'failed' && detail?.reaction !== undefined)
    .sort((a, b) => b.occurredAt.getTime() - a.occurredAt.getTime())
  return (['inbound', 'outbound'] as const).flatMap((side) => {
    const newest = sent.find(({ direction }) => direction === side)
    return newest === undefined || emojiOf(newest) === '' ? [] : [newest]
  })
}

/** Returns the emoji of a reaction; empty if it was removed or is not an emoji. */
export function emojiOf({ detail, revision }: MessageView): string {
  return revision?.withdrawnAt == null ? firstEmoji(detail?.reaction?.emoji ?? '') : ''
}

async function selectMedia({ sql, keyring, workspaceId }: WorkspaceSql, ids: readonly string[]) {
  if (ids.length === 0) return new Map<string, MediaView>()
  const rows = await sql<MediaViewRow[]>`
    select ${mediaViewColumns(sql)}
    from media f
    where f.workspace_id = ${opaqueWorkspaceId(sql, workspaceId)}
      and f.id = any (${[...ids]}::uuid[])`
  return new Map(rows.map((row) => [row.id, decryptMediaView(keyring, row)]))
}

async function selectReactions({ sql, keyring, workspaceId }: WorkspaceSql, ids: readonly string[]) {
  if (ids.length === 0) return new Map<string, MessageView>()
  const rows = await sql<MessageViewRow[]>`
    select ${messageViewColumns(sql)}
    from messages m
    where m.workspace_id = ${opaqueWorkspaceId(sql, workspaceId)}
      and m.id = any (${[...ids]}::uuid[])`
  return new Map(rows.map((row) => [row.id, decryptMessageView(keyring, row)]))
}

/** Limited to the same conversation, so that no message of another customer is shown. */
async function selectReferenced(
  { sql, keyring, workspaceId }: WorkspaceSql,
  references: readonly { message: MessageView; externalId: string }[],
): Promise<[string, MessageView][]> {
  if (references.length === 0) return []
  const indexes = references.map(({ message, externalId }) => externalIndex(keyring, message.connectionId, externalId))
  const workspace = opaqueWorkspaceId(sql, workspaceId)
  const rows = await sql<(MessageViewRow & { place: number })[]>`
    select n.place::integer, ${messageViewColumns(sql)}
    from unnest(
      ${references.map(({ message }) => message.connectionId)}::uuid[],
      ${references.map(({ message }) => message.conversationId ?? null)}::uuid[],
      ${byteaArray(indexes)}::bytea[]
    ) with ordinality as n (connection_id, conversation_id, external_index, place)
    cross join lateral (
      (
        select id from messages
        where workspace_id = ${workspace}
          and connection_id = n.connection_id
          and external_index = n.external_index
        limit 1
      )
      union all
      (
        select message_id from message_parts
        where workspace_id = ${workspace}
          and connection_id = n.connection_id
          and external_index = n.external_index
        limit 1
      )
      limit 1
    ) as known
    join messages m on m.workspace_id = ${workspace} and m.id = known.id and m.conversation_id = n.conversation_id`
  return rows.flatMap((row) => {
    const requested = references[row.place - 1]
    return requested === undefined
      ? []
      : [[messageKey(requested.message, requested.externalId), decryptMessageView(keyring, row)]]
  })
}

export interface MediaView {
  id: string
  kind: MediaKind
  state: MediaState
  failure: string | null
  bytes: number | null
  hasPreview: boolean
  details: MediaDetails
}

/** Encrypted values as `Keyring.decryptCached` takes them. */
export interface MediaViewRow extends Omit<MediaView, 'details'> {
  sealed: string
}

export const mediaViewColumns = (sql: Sql) => sql`
  f.id,
  f.kind,
  f.state,
  f.failure,
  f.size_bytes::float8 as bytes,
  f.preview_stored_as is not null as "hasPreview",
  encode(f.details, 'base64') as sealed`

const encryptedColumns: EncryptedColumns<MediaDetails> = {
  table: 'media',
  columns: ['details'],
  read: (details) => JSON.parse(details ?? '') as MediaDetails,
}

export function decryptMediaView(keyring: Keyring, { sealed, ...row }: MediaViewRow): MediaView {
  return { ...row, details: keyring.decryptCached(encryptedColumns, row.id, sealed) }
}
