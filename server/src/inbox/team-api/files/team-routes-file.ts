import { type App, errors } from '../../../base/route.ts'
import { memberOf, type TeamGuard } from '../../../team/member.ts'
import type { InboxDeps } from '../../conversation/conversation.ts'
import { retryMedia } from '../../media/retry-media.ts'
import { conversationRoute, inboxPath } from '../team-request.ts'
import { FileHeaders, fileAnswers, MediaParams, Retried } from './files-schema.ts'

const path = `${inboxPath}/media/:mediaId`

/** The bytes of a message's file, and what to do when it has not come. */
export function serveMedia(app: App, deps: InboxDeps, guard: TeamGuard): void {
  const common = {
    method: 'GET',
    onRequest: guard.member('member'),
  } as const
  const schema = {
    ...conversationRoute,
    params: MediaParams,
    headers: FileHeaders,
    response: { ...fileAnswers, ...errors(400, 401, 404, 429, 503) },
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
    handler: async () => {
      throw new Error('to come')
    },
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
    handler: async () => {
      throw new Error('to come')
    },
  })
  app.route({
    method: 'POST',
    url: `${path}/retry`,
    onRequest: guard.member('member'),
    schema: {
      ...conversationRoute,
      operationId: 'retryMedia',
      summary: 'Fetch a file again',
      description: 'One that did not come is tried anew. What is here, or is being fetched, stays as it is.',
      params: MediaParams,
      response: { 200: Retried, ...errors(400, 401, 404, 413, 415) },
    },
    handler: async (request) => ({
      state: await retryMedia(deps, memberOf(request).workspaceId, request.params.mediaId.toLowerCase()),
    }),
  })
}
