import { decodeCursor, encodeCursor } from '../../../base/cursor.ts'
import type { Sql } from '../../../base/db.ts'
import { invalid } from '../../../base/errors.ts'
import { isUuid } from '../../../base/id.ts'
import type { Keyring } from '../../../base/sealing/keyring.ts'
import type { MediaKind } from '../../../channels/channel-event.ts'
import type { TeamApi } from '../../../team/team-api.ts'
import type { InboxDeps, Scope } from '../../conversation/conversation.ts'
import { conversationNotFound } from '../../conversation/errors.ts'
import type { Direction } from '../../conversation/message.ts'
import { findConversation } from '../../conversation/queries.ts'
import { openShownMedia, type ShownMedia, type ShownMediaRow, shownMediaColumns } from '../../read/shown-media.ts'
import { conversationsPath, scopeOf } from '../inbox-request.ts'
import { TeamConversationParams } from '../inbox-schema.ts'
import { mediaKinds } from '../media-schema.ts'
import { presentTeamMedia } from '../present-conversation.ts'
import { Gallery, GalleryQuery } from './files-schema.ts'

/** All files of a conversation. */
export function galleryRoutes(api: TeamApi, { db, vault }: InboxDeps): void {
  api.get(`${conversationsPath}/:id/media`, 'member', {
    operationId: 'listConversationMedia',
    summary: "List a conversation's files",
    description: 'Newest first, those that have not come among them.',
    params: TeamConversationParams,
    query: GalleryQuery,
    answers: { 200: Gallery },
    allErrors: [400, 401, 404],
    run: async ({ member, params, query }) => {
      const scope = scopeOf(member)
      const { kinds, limit = 50, cursor } = query
      const asked = {
        kinds: kinds === undefined ? null : readKinds(kinds),
        limit,
        after: cursor === undefined ? null : readGalleryPosition(cursor),
      }
      const { items, next } = await vault.withKeyring(scope.workspaceId, (keyring) =>
        readGallery(db.sql, keyring, scope, params.id, asked),
      )
      return {
        items: items.map(({ at, media, ...item }) => ({
          ...item,
          at: at.toISOString(),
          media: presentTeamMedia(media),
        })),
        next,
      }
    },
  })
}

function readKinds(text: string): MediaKind[] {
  const words = text.split(',')
  const kinds = mediaKinds.filter((kind) => words.includes(kind))
  if (words.every((word) => kinds.some((kind) => kind === word))) return kinds
  throw invalid('kinds', `must be some of ${mediaKinds.join(', ')}, with commas between`, 'query')
}

interface GalleryRequest {
  /** Null: all of them. */
  kinds: readonly MediaKind[] | null
  limit: number
  after: GalleryPosition | null
}

/** Behind it is what is older; ids break ties. */
interface GalleryPosition {
  at: Date
  id: string
}

interface GalleryItem {
  messageId: string
  at: Date
  direction: Direction
  media: ShownMedia
}

type Row = ShownMediaRow & { messageId: string; at: Date; direction: Direction; createdAt: Date }

/** The files of a conversation's messages, newest first, and where to go on. Throws 404 outside the scope. */
async function readGallery(
  sql: Sql,
  keyring: Keyring,
  scope: Scope,
  conversationId: string,
  { kinds, limit, after }: GalleryRequest,
): Promise<{ items: GalleryItem[]; next: string | null }> {
  const conversation = await findConversation(sql, scope, conversationId)
  if (conversation === undefined) throw conversationNotFound()
  const { workspaceId } = scope
  const rows = await sql<Row[]>`
    select ${shownMediaColumns(sql)}, f.message_id as "messageId", m.occurred_at as at, f.direction,
      f.created_at as "createdAt"
    from media f
    join messages m on m.workspace_id = ${workspaceId} and m.id = f.message_id
    where f.workspace_id = ${workspaceId}
      and f.conversation_id = ${conversation.id}
      ${kinds === null ? sql`` : sql`and f.kind = any (${[...kinds]}::text[])`}
      ${after === null ? sql`` : sql`and (f.created_at, f.id) < (${after.at}::timestamptz, ${after.id}::uuid)`}
    order by f.created_at desc, f.id desc
    limit ${limit + 1}`
  const shown = rows.slice(0, limit)
  const last = rows.length > limit ? shown.at(-1) : undefined
  return {
    items: shown.map(({ messageId, at, direction, createdAt: _, ...media }) => ({
      ...{ messageId, at, direction },
      media: openShownMedia(keyring, media),
    })),
    next: last === undefined ? null : encodeCursor(['gallery', last.createdAt.getTime(), last.id]),
  }
}

/** Throws `InvalidInput` for what no page has given. */
function readGalleryPosition(text: string): GalleryPosition {
  const [name, time, id, extra] = decodeCursor(text) ?? []
  const isTime = Number.isSafeInteger(time) && Math.abs(Number(time)) <= 253_402_300_799_999
  if (name !== 'gallery' || !isTime || typeof id !== 'string' || !isUuid(id) || extra !== undefined) {
    throw invalid('cursor', 'is not a cursor of this list', 'query')
  }
  return { at: new Date(Number(time)), id }
}
