import type { FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import { type TObject, type TProperties, Type } from 'typebox'
import { callerOf } from '../../access/keys/caller.ts'
import type { Guard } from '../../access/keys/guard.ts'
import { setRateLimitHeaders } from '../../access/rate-limit/request-limits.ts'
import { broughtBy, leaveBody, takeRawBodies } from '../../base/bytes/raw-body.ts'
import type { Clock } from '../../base/clock.ts'
import type { App } from '../../base/route.ts'
import { uuid } from '../../base/schema-types.ts'
import { conversationNotFound } from '../../inbox/conversation/errors.ts'
import { findConversation } from '../../inbox/conversation/queries.ts'
import { openMedia } from '../../inbox/media/media-queries.ts'
import { filePlaces, readingPlaces, sendFile } from '../../inbox/team-api/files/send-file.ts'
import { FileHeaders } from '../../inbox/team-api/media-schema.ts'
import { filePath } from '../shown/message.ts'
import { type AgentCaller, type AgentDeps, admitTo, runVerb, type Verb } from '../verb.ts'
import { presentUpload, uploadKind, uploadName, uploadType } from '../verbs/upload-file.ts'

export const basePath = '/api/v2'

/** A route for each verb: the path's names, the query of a GET and the body of all else make its input. */
export function verbRoutes(
  app: App,
  deps: AgentDeps,
  guard: Pick<Guard, 'anyKey' | 'admit'>,
  verbs: readonly Verb[],
): void {
  app.decorateRequest('agent', null)
  for (const verb of verbs) {
    const { params, rest } = partsOf(verb)
    const isGet = verb.http.method === 'GET'
    const { maxBodyBytes } = verb.http
    app.route({
      method: verb.http.method as HTTPMethods,
      url: `${basePath}${verb.http.path}`,
      ...(maxBodyBytes !== undefined && { bodyLimit: maxBodyBytes }),
      onRequest: [
        guard.anyKey(),
        async (request, reply) => {
          request.call = { verb: verb.name }
          request.agent = await admitTo(guard, verb, callerOf(request))
          if (request.agent.left !== null) setRateLimitHeaders(reply, request.agent.left)
        },
      ],
      preValidation: async (request) => {
        // Where every field may be left out, so may the body.
        if (!isGet) request.body ??= {}
      },
      // It is in a document of its own.
      schema: { hide: true, params, ...(isGet ? { querystring: rest } : { querystring: none, body: rest }) },
      handler: async (request, reply) => {
        const { query, body, params: named } = request as { query: object; body: object; params: object }
        const input = { ...(isGet ? query : body), ...named }
        const answer = await runVerb(deps, verb, agentOf(request), input, goneSignal(reply))
        return reply.send(answer)
      },
    })
  }
}

const none = Type.Object({}, { additionalProperties: false })

interface Parts {
  params: TObject
  rest: TObject
}

/** A verb's input as HTTP has it: what is in the path, and what is not. */
export function partsOf({ http, input }: Verb): Parts {
  const named = new Set([...http.path.matchAll(/:(\w+)/g)].map(([, name]) => name ?? ''))
  const pick = (isNamed: boolean): TProperties =>
    Object.fromEntries(Object.entries(input.properties).filter(([name]) => named.has(name) === isNamed))
  return { params: Type.Object(pick(true)), rest: Type.Object(pick(false), { additionalProperties: false }) }
}

declare module 'fastify' {
  interface FastifyRequest {
    agent: AgentCaller | null
  }
}

function agentOf({ agent }: FastifyRequest): AgentCaller {
  if (agent === null) throw new Error('This route admits nobody')
  return agent
}

/** Aborts when the caller goes before it is answered. */
function goneSignal({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController()
  raw.once('close', () => gone.abort())
  return gone.signal
}

/** Whoever reads for longer is asked again whether they may. */
const lookAgainMs = 10_000

/** Files as their bytes, both ways. They are no verbs: what these take and answer is JSON. */
export function fileRoutes(app: App, { inbox, uploads }: AgentDeps, guard: Pick<Guard, 'inbox' | 'stillReads'>): void {
  readRoute(app, inbox, guard)
  takeRawBodies(app, (scope) => bringRoute(scope, uploads, guard))
}

/** The bytes of a file that a message of a conversation carries. */
function readRoute(app: App, inbox: AgentDeps['inbox'], guard: Pick<Guard, 'inbox' | 'stillReads'>): void {
  const place = filePlaces(readingPlaces)
  const none = Type.Object({}, { additionalProperties: false })
  const params = Type.Object({ conversation_id: uuid(), file_id: uuid() })
  app.route({
    method: ['GET', 'HEAD'],
    url: filePath(':conversation_id', ':file_id'),
    onRequest: guard.inbox('inbox.read'),
    schema: { hide: true, params, headers: FileHeaders, querystring: none },
    handler: async (request, reply) => {
      const { workspaceId, keyId, connectionIds } = callerOf(request)
      const { conversation_id, file_id } = request.params
      const scope = { workspaceId, connectionIds }
      const conversation = await findConversation(inbox.db.sql, scope, conversation_id.toLowerCase())
      if (conversation === undefined) throw conversationNotFound()
      return place({ workspaceId, actor: { id: keyId } }, async () => {
        const asker = { workspaceId, actorId: keyId, conversationId: conversation.id }
        const file = await openMedia(inbox, asker, file_id.toLowerCase(), 'file')
        const { store, log, clock } = inbox
        return sendFile({ store, log, mayGoOn: stillReads(guard, clock, request, reply) }, file, request, reply)
      })
    },
  })
}

/** A file that an answer is to send. */
function bringRoute(app: App, uploads: AgentDeps['uploads'], guard: Pick<Guard, 'inbox'>): void {
  const query = Type.Object(
    { kind: uploadKind, name: Type.Optional(uploadName), type: Type.Optional(uploadType) },
    { additionalProperties: false },
  )
  app.route({
    method: 'POST',
    url: '/api/v2/conversations/:conversation_id/files',
    bodyLimit: Number.MAX_SAFE_INTEGER,
    config: { takesFiles: true },
    onRequest: guard.inbox('inbox.write'),
    schema: { hide: true, params: Type.Object({ conversation_id: uuid() }), querystring: query },
    handler: async (request, reply) => {
      const { kind, name = null, type = null } = request.query
      const upload = {
        ...broughtBy(request),
        ...{ conversationId: request.params.conversation_id.toLowerCase(), kind, name },
        ...{ type: type ?? request.headers['content-type'] ?? null, seconds: null, waveform: null },
      }
      const uploaded = await uploads.take(callerOf(request), upload).catch(leaveBody(request, reply))
      return reply.send(presentUpload(uploaded))
    },
  })
}

function stillReads(
  guard: Pick<Guard, 'stillReads'>,
  clock: Clock,
  request: FastifyRequest,
  reply: FastifyReply,
): () => Promise<boolean> {
  let lookedAt = clock.now().getTime()
  return async () => {
    const now = clock.now().getTime()
    if (now - lookedAt < lookAgainMs) return true
    lookedAt = now
    return guard.stillReads(request, reply).then(
      () => true,
      () => false,
    )
  }
}
