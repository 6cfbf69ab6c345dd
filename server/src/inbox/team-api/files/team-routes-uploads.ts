import { Type } from 'typebox'
import { type App, errors } from '../../../base/route.ts'
import { fileText } from '../../../base/schema-types.ts'
import type { TeamGuard } from '../../../team/member.ts'
import type { InboxDeps } from '../../conversation/conversation.ts'
import { conversationRoute, conversationsPath } from '../team-request.ts'
import { TeamConversationParams } from '../team-schema.ts'
import {
  Upload,
  UploadLimits,
  UploadParams,
  UploadQuery,
  uploadLimitReached,
  uploadTooLarge,
  uploadTypeRefused,
} from './files-schema.ts'

/** Files on their way out: they are here before the message that shows them. */
export function serveUploads(app: App, deps: InboxDeps, guard: TeamGuard): void {
  limitsRoute(app, deps, guard)
  removeRoute(app, deps, guard)
  app.register(async (scope: App) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request, body, done) => done(null, body))
    uploadRoute(scope, deps, guard)
  })
}

function limitsRoute(app: App, _deps: InboxDeps, guard: TeamGuard): void {
  app.route({
    method: 'GET',
    url: `${conversationsPath}/:id/upload-limits`,
    onRequest: guard.member('member'),
    schema: {
      ...conversationRoute,
      operationId: 'getUploadLimits',
      summary: 'Read which files can be sent',
      description: 'What the channel of the conversation takes, by kind.',
      params: TeamConversationParams,
      response: { 200: UploadLimits, ...errors(400, 401, 404) },
    },
    handler: async () => {
      throw new Error('to come')
    },
  })
}

function removeRoute(app: App, _deps: InboxDeps, guard: TeamGuard): void {
  app.route({
    method: 'DELETE',
    url: `${conversationsPath}/:id/uploads/:uploadId`,
    onRequest: guard.member('member'),
    schema: {
      ...conversationRoute,
      operationId: 'deleteUpload',
      summary: 'Remove an upload',
      description: 'One of the caller’s that no message has taken.',
      params: UploadParams,
      response: { 204: Type.Null({ description: 'It is gone.' }), ...errors(400, 401, 404, 413, 415) },
    },
    handler: async () => {
      throw new Error('to come')
    },
  })
}

function uploadRoute(app: App, _deps: InboxDeps, guard: TeamGuard): void {
  app.route({
    method: 'POST',
    url: `${conversationsPath}/:id/uploads`,
    onRequest: guard.member('member'),
    schema: {
      ...conversationRoute,
      operationId: 'uploadMedia',
      summary: 'Upload a file to send',
      description:
        'The body is the file itself, of whatever `Content-Type`. It waits for a send to take it by its `id`, for a day at most. A caller may have 20 such uploads, a workspace 2 GiB of them.',
      params: TeamConversationParams,
      querystring: UploadQuery,
      consumes: ['application/octet-stream'],
      body: Type.Unsafe<unknown>({ 'x-published': Type.String(fileText) }),
      response: {
        201: Upload,
        ...errors(400, 401, 404, 503),
        409: uploadLimitReached,
        413: uploadTooLarge,
        415: uploadTypeRefused,
      },
    },
    handler: async () => {
      throw new Error('to come')
    },
  })
}
