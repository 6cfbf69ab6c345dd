import { Readable } from 'node:stream'
import type { FastifyError, FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { createSlotCounter } from '../../base/async/slots.ts'
import { ApiError, badRequest, notFound, unavailable } from '../../base/errors.ts'
import type { App } from '../../base/route.ts'
import { uuid } from '../../base/schema-types.ts'
import type { FileToUpload } from '../media-transport.ts'
import { callbackParams } from '../store-callback.ts'
import { maxVisitorFileBytes } from './adapter.ts'
import { externalIdOf, findInChat, mayDownload, openFile } from './chat-log.ts'
import { cleanFileName, receiveFile } from './receive-chat.ts'
import { type Authenticated, type VisitorContext, visitorPath } from './visitor-context.ts'

const uploadQuery = Type.Object(
  { clientId: uuid(), name: Type.Optional(Type.String({ maxLength: 1000 })) },
  { additionalProperties: false },
)
const fileParams = Type.Object({ ...callbackParams.properties, fileId: uuid() })
/** Bodies that are in memory at once. */
const most = { workspace: 4, all: 16 } as const

/** Routes of files: bodies are raw bytes, of any declared type. */
export function fileRoutes(app: App, context: VisitorContext): void {
  app.register(async (scope: App) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: maxVisitorFileBytes }, (_request, body, done) =>
      done(null, body),
    )
    scope.setErrorHandler((error: FastifyError) => {
      if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE') throw new ApiError(413, 'Files can have at most 8 MiB.')
      throw error
    })
    uploadRoute(scope, context)
  })
  downloadRoute(app, context)
}

function uploadRoute(scope: App, { deps, authenticate }: VisitorContext): void {
  const acquireSlots = createSlotCounter()
  const refusal = () => unavailable('Too many files are being sent. Send it again in a moment.')
  scope.post(
    `${visitorPath}/files`,
    {
      bodyLimit: maxVisitorFileBytes,
      schema: { hide: true, params: callbackParams, querystring: uploadQuery },
      // Before the body is read, so that only visitors can occupy memory.
      onRequest: async (request, reply) => {
        const found = await authenticate(request, 'files')
        const release = acquireSlots([
          { who: found.visitor.workspaceId, most: most.workspace, refusal },
          { who: 'all', most: most.all, refusal },
        ])
        reply.raw.once('close', release)
        uploaders.set(request.raw, found)
      },
    },
    async (request, reply) => {
      const found = uploaders.get(request.raw)
      const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
      if (found === undefined || bytes.length === 0) throw badRequest('The file is empty.')
      const { clientId, name = null } = request.query
      const id = await receiveFile(deps, found.connection, found.visitor, { clientId, name, bytes })
      if (found.visitor.lastSeq === 0) await deps.createLead(found.visitor.workspaceId, found.visitor.profile, null)
      reply.code(201)
      return { id }
    },
  )
}

/** Visitors of the requests whose bodies are being read. */
const uploaders = new WeakMap<object, Authenticated>()

function downloadRoute(app: App, { deps, authenticate }: VisitorContext): void {
  app.get(`${visitorPath}/files/:fileId`, { schema: { hide: true, params: fileParams } }, async (request, reply) => {
    const found = await authenticate(request, 'reads')
    const { visitor } = found
    const fileId = request.params.fileId.toLowerCase()
    const isOfTeam = await mayDownload(deps.db.sql, visitor, fileId)
    const file = isOfTeam ? await deps.openFile(visitor.workspaceId, fileId) : await openOwn(deps, found, fileId)
    if (file === null) throw notFound('The file is no longer available.')
    return sendFile(reply, file)
  })
}

/** Opens the file that the visitor sent with a message: as it came until the inbox has fetched it, then from there. */
async function openOwn(
  { db, openReceived }: VisitorContext['deps'],
  { connection, keyring, visitor }: Authenticated,
  id: string,
): Promise<DownloadedFile | null> {
  const message = await findInChat(db.sql, keyring, visitor, id)
  const file = message?.direction === 'inbound' ? message.content.file : undefined
  if (file === undefined) return null
  const bytes = await openFile(db.sql, keyring, visitor.workspaceId, id)
  if (bytes === null) return openReceived(connection, externalIdOf(id))
  return { ...file, size: bytes.length, bytes: () => Readable.from([bytes]) }
}

type DownloadedFile = Pick<FileToUpload, 'name' | 'mimeType' | 'size' | 'bytes'>

function sendFile(reply: FastifyReply, { name, mimeType, size, bytes }: DownloadedFile): FastifyReply {
  const known = cleanFileName(name) ?? 'file'
  return reply
    .headers({
      'content-type': mimeType,
      'content-length': String(size),
      // Never shown as a page: the widget fetches it and decides.
      'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(known).replaceAll(/['()*]/g, escapeMark)}`,
      'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
      'cache-control': 'private, no-store',
    })
    .send(Readable.from(bytes()))
}

const escapeMark = (mark: string): string => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`
