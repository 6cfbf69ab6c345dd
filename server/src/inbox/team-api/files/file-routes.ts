import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '../../../base/clock.ts'
import type { Db, Tx } from '../../../base/db.ts'
import { notFound } from '../../../base/errors.ts'
import { type App, errors } from '../../../base/route.ts'
import type { MediaStore } from '../../../media/store/store.ts'
import { memberOf, type TeamGuard } from '../../../team/member.ts'
import { teamApi } from '../../../team/team-api.ts'
import { teamRoute } from '../../../team/team-schema.ts'
import { tellOfMedia } from '../../conversation/conversation-news.ts'
import { tellComing } from '../../media/fetch-queries.ts'
import type { MediaState } from '../../media/media.ts'
import { openMedia } from '../../media/open-media.ts'
import type { SendDeps } from '../../send/send-deps.ts'
import { inboxPath } from '../inbox-request.ts'
import { filePlaces, readingPlaces } from './file-places.ts'
import { FileHeaders, fileAnswers, MediaParams, Retried } from './files-schema.ts'
import { sendFile } from './send-file.ts'

const path = `${inboxPath}/media/:mediaId`
/** Whoever reads for longer is asked again whether they may. */
const lookAgainMs = 10_000

export interface FileDeps extends Pick<SendDeps, 'db' | 'vault' | 'clock' | 'log'> {
  store: MediaStore
}

/** The bytes of a message's file, and what to do when it has not come. */
export function fileRoutes(app: App, deps: FileDeps, guard: TeamGuard): void {
  const api = teamApi(app, guard, 'Team inbox')
  const place = filePlaces(readingPlaces)
  const common = { method: ['GET', 'HEAD'] as ('GET' | 'HEAD')[], onRequest: guard.member('member') }
  const schema = {
    ...teamRoute('Team inbox'),
    params: MediaParams,
    headers: FileHeaders,
    response: { ...fileAnswers, ...errors(400, 401, 404, 429, 503) },
  }
  const answer = (request: FastifyRequest, reply: FastifyReply, mediaId: string, part: 'file' | 'preview') => {
    const member = memberOf(request)
    return place(member, async () => {
      const asker = { workspaceId: member.workspaceId, actorId: member.actor.id }
      const file = await openMedia(deps, asker, mediaId.toLowerCase(), part)
      return sendFile({ ...deps, mayGoOn: stillMember(deps, guard, request) }, file, request, reply)
    })
  }
  app.route({
    ...common,
    url: path,
    schema: {
      ...schema,
      operationId: 'downloadMedia',
      summary: 'Read a file',
      description:
        'Pictures, sounds, videos and PDFs by the type that their bytes have, everything else as a download. 404 until it is here.',
    },
    handler: (request, reply) => answer(request, reply, request.params.mediaId, 'file'),
  })
  app.route({
    ...common,
    url: `${path}/preview`,
    schema: {
      ...schema,
      operationId: 'downloadMediaPreview',
      summary: "Read a file's preview",
      description: 'A smaller picture, in WebP. 404 where `hasPreview` is false.',
    },
    handler: (request, reply) => answer(request, reply, request.params.mediaId, 'preview'),
  })
  api.post(`${path}/retry`, 'member', {
    operationId: 'retryMedia',
    summary: 'Fetch a file again',
    description: 'One that did not come is tried anew. What is here, or is being fetched, stays as it is.',
    params: MediaParams,
    answers: { 200: Retried },
    errors: [413, 415],
    run: async ({ member, params }) => ({
      state: await retryMedia(deps, member.workspaceId, params.mediaId.toLowerCase()),
    }),
  })
}

function stillMember({ clock }: FileDeps, guard: TeamGuard, request: FastifyRequest): () => Promise<boolean> {
  let lookedAt = clock.now().getTime()
  return async () => {
    const now = clock.now().getTime()
    if (now - lookedAt < lookAgainMs) return true
    lookedAt = now
    return (await guard.stillMember(request)) !== null
  }
}

interface Row {
  conversationId: string
  messageId: string | null
  state: MediaState
  isBeingFetched: boolean
}

/**
 * Has a file that did not come tried again now, as if for the first time. Returns where it stands then: what is here, or is
 * being fetched, stays as it is. Throws 404 for an id that is no file of a message of the workspace.
 */
export async function retryMedia(
  { db, clock }: { db: Db; clock: Clock },
  workspaceId: string,
  mediaId: string,
): Promise<MediaState> {
  const now = clock.now()
  return db.tx(async (tx) => {
    const row = await lockRow(tx, workspaceId, mediaId, now)
    if (row === undefined)
      throw notFound('No message of the workspace has a file with this id. Take an id from the conversation.')
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
    tellOfMedia(tx, { workspaceId, conversationId, messageId, mediaId, state: 'coming' })
    tellComing(tx, workspaceId)
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
