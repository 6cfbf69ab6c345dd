import type { Db, Sql } from '../../base/db.ts'
import { byteaArray } from '../../base/postgres/values.ts'
import type { Keyring } from '../../base/sealing/keyring.ts'
import type { SealedColumns } from '../../base/sealing/opened-values.ts'
import type { Vault } from '../../base/sealing/vault.ts'
import type { MediaKind } from '../../channels/channel-event.ts'
import { firstEmoji } from '../../channels/detail-values.ts'
import type { WorkspaceSql } from '../conversation/conversation.ts'
import { anyWorkspace } from '../conversation/queries.ts'
import { externalIndex } from '../conversation/sealed.ts'
import type { MediaDetails, MediaState } from '../media/media.ts'
import { openShownMessage, type ShownMessage, type ShownMessageRow, shownMessageColumns } from './read-messages.ts'

/** What a page shows of messages beside their rows. */
export interface Details {
  media(message: ShownMessage): ShownMedia | null
  /** The message of the conversation that the platform knows by this id; null when it is not known here. */
  named(message: ShownMessage, externalId: string): ShownMessage | null
  /** Reactions to a message that stand, one of each side at most. */
  reactions(message: ShownMessage): ShownMessage[]
}

/**
 * Reads what messages of one conversation show beside their words: a statement each for files, for what they quote or
 * react to, and for reactions to them, and none for what no message has.
 */
export async function readDetails(
  { db, vault }: { db: Db; vault: Vault },
  workspaceId: string,
  messages: readonly ShownMessage[],
): Promise<Details> {
  const mediaIds = messages.flatMap(({ detail }) => detail?.media?.id ?? [])
  const reactionIds = [...new Set(messages.flatMap((message) => message.reactionIds ?? []))]
  const onPage = new Map(
    messages.flatMap((one) => (one.externalId === null ? [] : [[nameOf(one, one.externalId), one]])),
  )
  const unknown = messages.flatMap((message) =>
    namedBy(message).flatMap((externalId) =>
      onPage.has(nameOf(message, externalId)) ? [] : [{ message, externalId }],
    ),
  )
  const [media, reactions, found] = await vault.withKeyring(workspaceId, (keyring) =>
    Promise.all([
      selectMedia({ sql: db.sql, keyring, workspaceId }, mediaIds),
      selectReactions({ sql: db.sql, keyring, workspaceId }, reactionIds),
      selectNamed({ sql: db.sql, keyring, workspaceId }, unknown),
    ]),
  )
  const named = new Map([...onPage, ...found])
  return {
    media: ({ detail }) => (detail?.media === undefined ? null : (media.get(detail.media.id) ?? null)),
    named: (message, externalId) => named.get(nameOf(message, externalId)) ?? null,
    reactions: ({ reactionIds: ids = [] }) => standing(ids.flatMap((id) => reactions.get(id) ?? [])),
  }
}

const nameOf = ({ connectionId }: ShownMessage, externalId: string) => `${connectionId} ${externalId}`

const namedBy = ({ detail }: ShownMessage): string[] =>
  [detail?.quoted?.externalId, detail?.reaction?.externalId].filter((id) => id !== undefined)

/** Each side has one reaction to a message at a time: its newest, unless that was taken back. */
function standing(reactions: readonly ShownMessage[]): ShownMessage[] {
  const sent = reactions
    .filter(({ status, detail }) => status !== 'failed' && detail?.reaction !== undefined)
    .sort((a, b) => b.occurredAt.getTime() - a.occurredAt.getTime())
  return (['inbound', 'outbound'] as const).flatMap((side) => {
    const newest = sent.find(({ direction }) => direction === side)
    return newest === undefined || emojiOf(newest) === '' ? [] : [newest]
  })
}

/** What a reaction chose: one emoji. Empty when it was taken back, or when whatever was sent was none. */
export function emojiOf({ detail, revision }: ShownMessage): string {
  return revision?.withdrawnAt == null ? firstEmoji(detail?.reaction?.emoji ?? '') : ''
}

async function selectMedia(
  { sql, keyring, workspaceId }: WorkspaceSql,
  ids: readonly string[],
): Promise<Map<string, ShownMedia>> {
  if (ids.length === 0) return new Map()
  const rows = await sql<ShownMediaRow[]>`
    select ${shownMediaColumns(sql)}
    from media f
    where f.workspace_id = ${anyWorkspace(sql, workspaceId)}
      and f.id = any (${[...ids]}::uuid[])`
  return new Map(rows.map((row) => [row.id, openShownMedia(keyring, row)]))
}

async function selectReactions(
  { sql, keyring, workspaceId }: WorkspaceSql,
  ids: readonly string[],
): Promise<Map<string, ShownMessage>> {
  if (ids.length === 0) return new Map()
  const rows = await sql<ShownMessageRow[]>`
    select ${shownMessageColumns(sql)}
    from messages m
    where m.workspace_id = ${anyWorkspace(sql, workspaceId)}
      and m.id = any (${[...ids]}::uuid[])`
  return new Map(rows.map((row) => [row.id, openShownMessage(keyring, row)]))
}

/** Of the same conversation, so that nobody is shown what another customer was told. */
async function selectNamed(
  { sql, keyring, workspaceId }: WorkspaceSql,
  wanted: readonly { message: ShownMessage; externalId: string }[],
): Promise<[string, ShownMessage][]> {
  if (wanted.length === 0) return []
  const indexes = wanted.map(({ message, externalId }) => externalIndex(keyring, message.connectionId, externalId))
  const workspace = anyWorkspace(sql, workspaceId)
  const rows = await sql<(ShownMessageRow & { place: number })[]>`
    select n.place::integer, ${shownMessageColumns(sql)}
    from unnest(
      ${wanted.map(({ message }) => message.connectionId)}::uuid[],
      ${wanted.map(({ message }) => message.conversationId ?? null)}::uuid[],
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
    const asked = wanted[row.place - 1]
    return asked === undefined ? [] : [[nameOf(asked.message, asked.externalId), openShownMessage(keyring, row)]]
  })
}

/** What pages show of a file. */
export interface ShownMedia {
  id: string
  kind: MediaKind
  state: MediaState
  failure: string | null
  bytes: number | null
  hasPreview: boolean
  details: MediaDetails
}

/** With what is sealed as `Keyring.recall` takes it. */
export interface ShownMediaRow extends Omit<ShownMedia, 'details'> {
  sealed: string
}

export const shownMediaColumns = (sql: Sql) => sql`
  f.id,
  f.kind,
  f.state,
  f.failure,
  f.size_bytes::float8 as bytes,
  f.preview_stored_as is not null as "hasPreview",
  encode(f.details, 'base64') as sealed`

const sealedColumns: SealedColumns<MediaDetails> = {
  table: 'media',
  columns: ['details'],
  read: (details) => JSON.parse(details ?? '') as MediaDetails,
}

export function openShownMedia(keyring: Keyring, { sealed, ...row }: ShownMediaRow): ShownMedia {
  return { ...row, details: keyring.recall(sealedColumns, row.id, sealed) }
}
