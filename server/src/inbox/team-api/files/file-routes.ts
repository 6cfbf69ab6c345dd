import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Tx } from '../../../base/db.ts'
import { invalid, notFound } from '../../../base/errors.ts'
import { type App, errors } from '../../../base/route.ts'
import type { MediaKind } from '../../../channels/channel-event.ts'
import type { MediaStore } from '../../../media/store/store.ts'
import { memberOf, type TeamGuard } from '../../../team/member.ts'
import { type TeamApi, teamApi } from '../../../team/team-api.ts'
import { teamRoute } from '../../../team/team-schema.ts'
import { type InboxDeps, publishMedia, type ScopedSql } from '../../conversation/conversation.ts'
import type { Direction } from '../../conversation/message.ts'
import { requireConversation } from '../../conversation/queries.ts'
import { publishPendingMedia } from '../../media/fetch-queries.ts'
import type { MediaState } from '../../media/media.ts'
import { openMedia } from '../../media/media-queries.ts'
import { encodeTimePosition, parseTimePosition, type TimePosition } from '../../read/list-range.ts'
import { decryptMediaView, type MediaViewRow, mediaViewColumns } from '../../read/read-details.ts'
import type { SendDeps } from '../../send/send-deps.ts'
import { TeamConversationParams } from '../inbox-schema.ts'
import {
  FileHeaders,
  fileResponses,
  Gallery,
  GalleryQuery,
  MediaParams,
  mediaKinds,
  RetryResult,
} from '../media-schema.ts'
import { conversationsPath, inboxPath, presentTeamMedia, scopeOf } from '../present-conversation.ts'
import { checkedAgain, createFileSlots, downloadSlots, sendFile } from './send-file.ts'

const path = `${inboxPath}/media/:mediaId`

export interface FileDeps extends Pick<SendDeps, 'db' | 'keyStore' | 'clock' | 'log'> {
  store: MediaStore
}

export function fileRoutes(app: App, deps: FileDeps, guard: TeamGuard): void {
  const api = teamApi(app, guard, 'Team inbox')
  const withSlot = createFileSlots(downloadSlots)
  const common = { method: ['GET', 'HEAD'] as ('GET' | 'HEAD')[], onRequest: guard.member('member') }
  const schema = {
    ...teamRoute('Team inbox'),
    params: MediaParams,
    headers: FileHeaders,
    response: { ...fileResponses, ...errors(400, 401, 404, 429, 503) },
  }
  const respond = (request: FastifyRequest, reply: FastifyReply, mediaId: string, part: 'file' | 'preview') => {
    const member = memberOf(request)
    return withSlot(member, async () => {
      const reader = { workspaceId: member.workspaceId, actorId: member.actor.id }
      const file = await openMedia(deps, reader, mediaId.toLowerCase(), part)
      const isStillAllowed = checkedAgain(deps.clock, async () => (await guard.stillMember(request)) !== null)
      return sendFile({ ...deps, isStillAllowed }, file, request, reply)
    })
  }
  app.route({
    ...common,
    url: path,
    schema: {
      ...schema,
      operationId: 'downloadMedia',
      summary: 'Download a file',
      description:
        'Images, audio, video and PDF are served with their detected type, everything else as an attachment. 404 until the file is available.',
    },
    handler: (request, reply) => respond(request, reply, request.params.mediaId, 'file'),
  })
  app.route({
    ...common,
    url: `${path}/preview`,
    schema: {
      ...schema,
      operationId: 'downloadMediaPreview',
      summary: "Download a file's preview",
      description: 'A smaller WebP image. 404 if `hasPreview` is false.',
    },
    handler: (request, reply) => respond(request, reply, request.params.mediaId, 'preview'),
  })
  api.post(`${path}/retry`, 'member', {
    operationId: 'retryMedia',
    summary: 'Fetch a file again',
    description: 'Retries a failed download. A file that is available or being fetched does not change.',
    params: MediaParams,
    answers: { 200: RetryResult },
    errors: [413, 415],
    run: async ({ member, params }) => ({
      state: await retryMedia(deps, member.workspaceId, params.mediaId.toLowerCase()),
    }),
  })
}

interface Row {
  conversationId: string
  messageId: string | null
  state: MediaState
  isBeingFetched: boolean
}

/**
 * Fetches a failed file again now, with a fresh retry budget. Returns its state; a file that is stored or being fetched
 * does not change. Throws 404 if no message of the workspace has this file.
 */
export async function retryMedia(
  { db, clock }: Pick<InboxDeps, 'db' | 'clock'>,
  workspaceId: string,
  mediaId: string,
): Promise<MediaState> {
  const now = clock.now()
  return db.tx(async (tx) => {
    const row = await lockRow(tx, workspaceId, mediaId, now)
    if (row === undefined) throw notFound('File not found. Use a file id from the conversation.')
    const { conversationId, messageId, state, isBeingFetched } = row
    if (state === 'here' || isBeingFetched) return state
    await tx`
      update media
      set state = 'coming',
        failure = null,
        tries = 0,
        due_at = ${now},
        lease_until = null,
        updated_at = ${now}
      where workspace_id = ${workspaceId}
        and id = ${mediaId}`
    publishMedia(tx, { workspaceId, conversationId, messageId, mediaId, state: 'coming' })
    publishPendingMedia(tx, workspaceId)
    return 'coming'
  })
}

async function lockRow(tx: Tx, workspaceId: string, mediaId: string, now: Date): Promise<Row | undefined> {
  const [row] = await tx<Row[]>`
    select conversation_id as "conversationId", message_id as "messageId", state,
      lease_until is not null and lease_until > ${now} as "isBeingFetched"
    from media
    where workspace_id = ${workspaceId}
      and id = ${mediaId}
      and message_id is not null
    for no key update`
  return row
}

export function galleryRoutes(api: TeamApi, { db, keyStore }: InboxDeps): void {
  api.get(`${conversationsPath}/:id/media`, 'member', {
    operationId: 'listConversationMedia',
    summary: "List a conversation's files",
    description: 'Newest first, including files that are not available.',
    params: TeamConversationParams,
    query: GalleryQuery,
    answers: { 200: Gallery },
    allErrors: [400, 401, 404],
    run: async ({ member, params, query }) => {
      const { workspaceId } = member
      const { kinds, limit = 50, cursor } = query
      const galleryRequest = {
        kinds: kinds === undefined ? null : parseKinds(kinds),
        limit,
        after: cursor === undefined ? null : parseTimePosition('gallery', cursor),
      }
      return keyStore.withKeyring(workspaceId, (keyring) =>
        readGallery({ sql: db.sql, keyring, ...scopeOf(member) }, params.id, galleryRequest),
      )
    },
  })
}

function parseKinds(text: string): MediaKind[] {
  const names = text.split(',')
  const kinds = mediaKinds.filter((kind) => names.includes(kind))
  if (names.every((word) => kinds.some((kind) => kind === word))) return kinds
  throw invalid('kinds', `must be some of ${mediaKinds.join(', ')}, separated by commas`, 'query')
}

interface GalleryRequest {
  /** Null means all. */
  kinds: readonly MediaKind[] | null
  limit: number
  after: TimePosition | null
}

type GalleryRow = MediaViewRow & { messageId: string; at: Date; direction: Direction; createdAt: Date }

/** Returns the files of a conversation's messages, newest first, with a cursor. Throws 404 outside the scope. */
async function readGallery(reader: ScopedSql, conversationId: string, { kinds, limit, after }: GalleryRequest) {
  const { sql, keyring, workspaceId } = reader
  const conversation = await requireConversation(sql, reader, conversationId)
  const rows = await sql<GalleryRow[]>`
    select ${mediaViewColumns(sql)}, f.message_id as "messageId", m.occurred_at as at, f.direction,
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
      ...{ messageId, at: at.toISOString(), direction },
      media: presentTeamMedia(decryptMediaView(keyring, media)),
    })),
    next: last === undefined ? null : encodeTimePosition('gallery', { at: last.createdAt, id: last.id }),
  }
}
