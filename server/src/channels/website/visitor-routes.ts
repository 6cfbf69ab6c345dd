import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { createSlotCounter } from '../../base/async/slots.ts'
import { violates } from '../../base/db.ts'
import { badRequest, notFound, unavailable } from '../../base/errors.ts'
import type { App } from '../../base/route.ts'
import { stopWaitBudget } from '../../base/scheduling/work-context.ts'
import { uuid } from '../../base/schema-types.ts'
import { openingAt } from '../../team/opening-hours.ts'
import type { StoredWebsite } from '../connection/connection.ts'
import type { FileToUpload } from '../media-transport.ts'
import { callbackParams, registerRawScope } from '../store-callback.ts'
import { maxVisitorFileBytes } from './adapter.ts'
import { challengeUsed, difficultyFor, issueChallenge, maxChallengeLength, verifySolution } from './challenge.ts'
import { type ChatMessage, externalIdOf, findInChat, mayDownload, openFile } from './chat-log.ts'
import { cleanDetails, maxIdentityLength, type VisitorProfile, verifyIdentity } from './identity.ts'
import { type CountRequest, createVisitorLimits } from './limits.ts'
import { cleanFileName, maxMessageLength, receiveFile, receiveMark, receiveMessage } from './receive-chat.ts'
import { secretsOf, type WebsiteSettings } from './settings.ts'
import { type ChatUpdate, createChatUpdates } from './updates.ts'
import {
  type Authenticated,
  createContext,
  signedOut,
  tokenOf,
  type VisitorContext,
  type VisitorDeps,
  visitorPath,
} from './visitor-context.ts'
import { endSession, findVisitorSession, openSession } from './visitors.ts'

const hidden = { hide: true, params: callbackParams } as const
const closed = { additionalProperties: false } as const
const maxWaitSeconds = 25

/** Routes of the widget. Only its own page calls them, so they are no public API and may change with it. */
export function visitorRoutes(app: App, deps: VisitorDeps): void {
  const countRequest = createVisitorLimits(deps.limiter, deps.clientAddress)
  const context = createContext(deps, countRequest)
  configRoute(app, context)
  sessionRoutes(app, context, countRequest)
  chatRoutes(app, context)
  updateRoute(app, context)
  fileRoutes(app, context)
}

function configRoute(app: App, { deps, find }: VisitorContext): void {
  app.get(`${visitorPath}/config`, { schema: hidden }, async (request) => {
    const { connection } = await find(request)
    return presentConfig(deps, connection)
  })
}

async function presentConfig({ readHours, clock }: VisitorDeps, { workspaceId, id, settings }: StoredWebsite) {
  const { title, color, language, greeting, fields, whatsapp } = settings
  const hours = await readHours(workspaceId, id)
  const opening = hours && openingAt(hours, clock.now())
  return {
    ...{ title, color, language, greeting, fields },
    whatsappUrl: whatsapp === null ? null : `https://wa.me/${whatsapp}`,
    hours: opening && { isOpen: opening.isOpen, opensAt: opening.isOpen ? null : opening.nextChangeAt },
  }
}

const detail = (maxLength: number) => Type.Optional(Type.String({ maxLength }))
const newSession = Type.Object(
  {
    challenge: Type.Optional(Type.String({ maxLength: maxChallengeLength })),
    solution: Type.Optional(Type.String({ maxLength: 20, pattern: '^[0-9a-z]+$' })),
    identity: Type.Optional(Type.String({ maxLength: maxIdentityLength })),
    profile: Type.Optional(Type.Object({ name: detail(100), email: detail(255), phone: detail(64) }, closed)),
  },
  closed,
)

function sessionRoutes(app: App, { deps, find, authenticate }: VisitorContext, countRequest: CountRequest): void {
  const { db, clock } = deps
  app.post(`${visitorPath}/challenges`, { schema: hidden }, async (request) => {
    const { connection, keyring } = await find(request)
    const counts = await countRequest('challenges', { request: request.raw, keyring, connection })
    const bits = difficultyFor({ connection: counts.connection ?? 0, address: counts.address ?? 0 })
    return { challenge: issueChallenge(keyring, connection.id, bits, clock.now()), bits }
  })

  app.post(`${visitorPath}/sessions`, { schema: { ...hidden, body: newSession } }, async (request, reply) => {
    const { connection, keyring } = await find(request)
    const from = { request: request.raw, keyring, connection }
    await countRequest('reads', from)
    const now = clock.now()
    const { challenge = '', solution = '', identity, profile: typed = {} } = request.body
    const profile = identify(connection.settings, identity, typed, now)
    const nonce = profile.userId === null ? verifySolution(keyring, connection.id, { challenge, solution }, now) : null
    // Only what has cost something counts for the connection: otherwise a flood would keep visitors out.
    await countRequest('sessions', from)
    const token = tokenOf(request)
    const former = token === null ? null : ((await findVisitorSession(db.sql, keyring, connection, token, now)) ?? null)
    try {
      const newToken = await db.tx((tx) => openSession(tx, keyring, connection, { profile, nonce, former }, now))
      reply.code(201)
      return { token: newToken, isIdentified: profile.userId !== null }
    } catch (error) {
      if (violates(error, 'website_sessions_nonce')) throw challengeUsed()
      throw error
    }
  })

  app.delete(`${visitorPath}/sessions`, { schema: hidden }, async (request) => {
    const { session } = await authenticate(request, 'reads')
    await db.tx((tx) => endSession(tx, session))
    return { success: true }
  })
}

/** Returns who the visitor is. What a signed token says counts; what the visitor types is only a hint for the team. */
function identify(
  settings: WebsiteSettings,
  identity: string | undefined,
  typed: Record<string, unknown>,
  now: Date,
): VisitorProfile {
  if (identity !== undefined) return verifyIdentity(identity, secretsOf(settings, now), now)
  const { fields } = settings
  const asked = Object.entries(typed).filter(([name]) => fields[name as keyof typeof fields] !== 'off')
  return { userId: null, ...cleanDetails(Object.fromEntries(asked)) }
}

const newMessage = Type.Object(
  {
    clientId: uuid(),
    text: Type.String({ maxLength: maxMessageLength }),
    // Address of the page with the widget, for the attribution of a lead.
    page: Type.Optional(Type.String({ maxLength: 4096 })),
    chosen: Type.Optional(Type.Object({ messageId: uuid(), optionId: Type.String({ maxLength: 200 }) }, closed)),
  },
  closed,
)
const mark = Type.Object(
  { upTo: Type.Integer({ minimum: 1, maximum: 2_147_483_647 }), status: Type.Enum(['delivered', 'read']) },
  closed,
)

function chatRoutes(app: App, { deps, authenticate }: VisitorContext): void {
  app.post(`${visitorPath}/messages`, { schema: { ...hidden, body: newMessage } }, async (request, reply) => {
    const { connection, visitor } = await authenticate(request, 'messages')
    const id = await receiveMessage(deps, connection, visitor, request.body)
    const { page = null } = request.body
    if (visitor.lastSeq === 0) await deps.createLead(visitor.workspaceId, visitor.profile, page)
    reply.code(201)
    return { id }
  })

  app.post(`${visitorPath}/marks`, { schema: { ...hidden, body: mark } }, async (request) => {
    const { connection, visitor } = await authenticate(request, 'reads')
    await receiveMark(deps, connection, visitor, request.body as { upTo: number; status: 'delivered' | 'read' })
    return { success: true }
  })
}

const position = Type.Optional(Type.Integer({ minimum: 0, maximum: 2_147_483_647 }))
const updateQuery = Type.Object(
  {
    after: position,
    version: position,
    wait: Type.Optional(Type.Integer({ minimum: 0, maximum: maxWaitSeconds })),
  },
  closed,
)

function updateRoute(app: App, { deps, authenticate }: VisitorContext): void {
  const updates = createChatUpdates(deps)
  app.addHook('preClose', async () => updates.close())
  app.get(`${visitorPath}/updates`, { schema: { ...hidden, querystring: updateQuery } }, async (request, reply) => {
    const { visitor } = await authenticate(request, 'reads')
    const { after = null, version = null, wait = 0 } = request.query
    stopWaitBudget()
    const waitMs = wait * 1000
    const update = await updates.next({ visitor, after, version, waitMs, connection: request.raw.socket })
    if (update === undefined) throw signedOut()
    return presentUpdate(update, reply)
  })
}

function presentUpdate({ messages, ...state }: ChatUpdate, reply: FastifyReply) {
  reply.header('cache-control', 'no-store')
  return { messages: messages.map(presentMessage), ...state }
}

/** The correlator is ours alone. The visitor's own file is downloaded by the id of its message. */
function presentMessage({ id, seq, direction, status, at, content }: ChatMessage) {
  const { correlator: _, file, ...shown } = content
  return {
    ...{ id, seq, direction, status, at: at.toISOString(), ...shown },
    ...(file && { file: direction === 'inbound' ? { ...file, id } : file }),
  }
}

const uploadQuery = Type.Object({ clientId: uuid(), name: Type.Optional(Type.String({ maxLength: 1000 })) }, closed)
const fileParams = Type.Object({ ...callbackParams.properties, fileId: uuid() })
/** Bodies that are in memory at once. */
const most = { workspace: 4, all: 16 } as const

/** Routes of files: bodies are raw bytes, of any declared type. */
function fileRoutes(app: App, context: VisitorContext): void {
  registerRawScope(app, maxVisitorFileBytes, 'Files can have at most 8 MiB.', (scope) => uploadRoute(scope, context))
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
