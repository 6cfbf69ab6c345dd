import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { violates } from '../../base/db.ts'
import type { App } from '../../base/route.ts'
import { stopWaitBudget } from '../../base/scheduling/work-context.ts'
import { uuid } from '../../base/schema-types.ts'
import { openingAt } from '../../team/opening-hours.ts'
import type { StoredWebsite } from '../connection/connection.ts'
import { callbackParams } from '../store-callback.ts'
import { challengeUsed, difficultyFor, issueChallenge, maxChallengeLength, verifySolution } from './challenge.ts'
import type { ChatMessage } from './chat-log.ts'
import { fileRoutes } from './file-routes.ts'
import { cleanDetails, maxIdentityLength, type VisitorProfile, verifyIdentity } from './identity.ts'
import { createVisitorLimits, type VisitorLimits } from './limits.ts'
import { maxMessageLength, receiveMark, receiveMessage } from './receive-chat.ts'
import { secretsOf, type WebsiteSettings } from './settings.ts'
import { type ChatUpdate, createChatUpdates } from './updates.ts'
import {
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
  const limits = createVisitorLimits(deps.limiter, deps.clientAddress)
  const context = createContext(deps, limits)
  configRoute(app, context)
  sessionRoutes(app, context, limits)
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

function sessionRoutes(app: App, { deps, find, authenticate }: VisitorContext, limits: VisitorLimits): void {
  const { db, clock } = deps
  app.post(`${visitorPath}/challenges`, { schema: hidden }, async (request) => {
    const { connection, keyring } = await find(request)
    const counts = await limits.count('challenges', { request: request.raw, keyring, connection })
    const bits = difficultyFor({ connection: counts.connection ?? 0, address: counts.address ?? 0 })
    return { challenge: issueChallenge(keyring, connection.id, bits, clock.now()), bits }
  })

  app.post(`${visitorPath}/sessions`, { schema: { ...hidden, body: newSession } }, async (request, reply) => {
    const { connection, keyring } = await find(request)
    const from = { request: request.raw, keyring, connection }
    await limits.count('reads', from)
    const now = clock.now()
    const { challenge = '', solution = '', identity, profile: typed = {} } = request.body
    const profile = identify(connection.settings, identity, typed, now)
    const nonce = profile.userId === null ? verifySolution(keyring, connection.id, { challenge, solution }, now) : null
    // Only what has cost something counts for the connection: otherwise a flood would keep visitors out.
    await limits.count('sessions', from)
    const token = tokenOf(request)
    const former = token === null ? null : ((await findVisitorSession(db.sql, keyring, connection, token, now)) ?? null)
    try {
      const opened = await db.tx((tx) => openSession(tx, keyring, connection, { profile, nonce, former }, now))
      reply.code(201)
      return { token: opened.token, isIdentified: profile.userId !== null }
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
