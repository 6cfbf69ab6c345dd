import { Type } from 'typebox'
import { acceptRawBodies, discardBody, readUpload } from '../../../base/bytes/raw-body.ts'
import { invalid } from '../../../base/errors.ts'
import { type App, errors } from '../../../base/route.ts'
import { fileText } from '../../../base/schema-types.ts'
import { memberOf, type TeamGuard } from '../../../team/member.ts'
import { teamApi } from '../../../team/team-api.ts'
import { teamRoute } from '../../../team/team-schema.ts'
import { requireConversation } from '../../conversation/queries.ts'
import { limitsOf, receiveUpload, removeUpload, type UploadDeps } from '../../media/uploads.ts'
import { TeamConversationParams } from '../inbox-schema.ts'
import {
  mediaKinds,
  Upload,
  UploadLimits,
  UploadParams,
  UploadQuery,
  uploadLimitReached,
  uploadTooLarge,
  uploadTypeRefused,
} from '../media-schema.ts'
import { conversationsPath, scopeOf } from '../present-conversation.ts'
import { createFileSlots, uploadSlots } from './send-file.ts'

/** Maximum caption length of the platforms. */
const captionLength = 1024

/** Routes for uploads: files are uploaded before the message that sends them. */
export function uploadRoutes(app: App, deps: UploadDeps, guard: TeamGuard): void {
  const api = teamApi(app, guard, 'Team inbox')
  const { db, adapters } = deps
  api.get(`${conversationsPath}/:id/upload-limits`, 'member', {
    operationId: 'getUploadLimits',
    summary: 'Get the limits for uploads',
    description: 'File kinds, sizes and types that the channel of the conversation accepts.',
    params: TeamConversationParams,
    answers: { 200: UploadLimits },
    allErrors: [400, 401, 404],
    run: async ({ member, params }) => {
      const conversation = await requireConversation(db.sql, scopeOf(member), params.id)
      const limits = limitsOf(adapters, conversation.channel)
      const kinds = mediaKinds.flatMap((kind) => {
        const limit = limits?.[kind] ?? null
        return limit === null ? [] : [{ kind, bytes: limit.bytes, types: [...limit.types] }]
      })
      const hasFiles = kinds.length > 0
      return { kinds, captionLength: hasFiles ? captionLength : 0, canReact: hasFiles, canQuote: hasFiles }
    },
  })
  api.delete(`${conversationsPath}/:id/uploads/:uploadId`, 'member', {
    operationId: 'deleteUpload',
    summary: 'Delete an upload',
    description: 'Deletes an upload of the caller that is not attached to a message.',
    params: UploadParams,
    answers: { 204: Type.Unsafe<undefined>({ type: 'null', description: 'Deleted.' }) },
    errors: [413, 415],
    run: async ({ member, params }) => {
      const { workspaceId, actor } = member
      const { id, uploadId } = params
      await removeUpload(deps, workspaceId, actor, id, uploadId)
      return undefined
    },
  })
  acceptRawBodies(app, (scope) => uploadRoute(scope, deps, guard))
}

function uploadRoute(app: App, deps: UploadDeps, guard: TeamGuard): void {
  const withSlot = createFileSlots(uploadSlots)
  app.route({
    method: 'POST',
    url: `${conversationsPath}/:id/uploads`,
    bodyLimit: Number.MAX_SAFE_INTEGER,
    config: { takesFiles: true },
    onRequest: guard.member('member'),
    schema: {
      ...teamRoute('Team inbox'),
      operationId: 'uploadMedia',
      summary: 'Upload a file to send',
      description:
        'The body is the raw file, with any `Content-Type`. Send it by its `id` within a day. A caller can have 20 unsent uploads, a workspace 2 GiB of them.',
      params: TeamConversationParams,
      querystring: UploadQuery,
      consumes: ['application/octet-stream'],
      body: Type.Unsafe<unknown>({ 'x-published': Type.String(fileText) }),
      response: {
        201: Upload,
        ...errors(400, 401, 403, 404, 503),
        409: uploadLimitReached,
        413: uploadTooLarge,
        415: uploadTypeRefused,
      },
    },
    handler: async (request, reply) => {
      const member = memberOf(request)
      const { kind, name = null, type = null, seconds = null, waveform } = request.query
      const upload = {
        ...readUpload(request),
        ...{ conversationId: request.params.id, kind, name, type, seconds },
        waveform: waveform === undefined ? null : parseWaveform(waveform),
      }
      const { expiresAt, ...shown } = await withSlot(member, () =>
        receiveUpload(deps, scopeOf(member), member.actor, upload),
      ).catch(discardBody(request, reply))
      return reply.code(201).send({ ...shown, expiresAt: expiresAt.toISOString() })
    },
  })
}

function parseWaveform(text: string): number[] {
  const heights = text.split(',').map(Number)
  if (heights.some((height) => height > 100)) throw invalid('waveform', 'must be whole numbers from 0 to 100', 'query')
  return heights
}
