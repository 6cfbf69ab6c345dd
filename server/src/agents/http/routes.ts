import type { FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import { type TObject, type TProperties, Type } from 'typebox'
import type { KeyGuard } from '../../auth/api-keys/authenticate.ts'
import { callerOf } from '../../auth/api-keys/caller.ts'
import { setRateLimitHeaders } from '../../auth/rate-limit/request-limits.ts'
import { acceptRawBodies, discardBody, readUpload } from '../../base/bytes/raw-body.ts'
import type { App } from '../../base/route.ts'
import { uuid } from '../../base/schema-types.ts'
import { requireConversation } from '../../inbox/conversation/queries.ts'
import { openMedia } from '../../inbox/media/media-queries.ts'
import { checkedAgain, createFileSlots, downloadSlots, sendFile } from '../../inbox/team-api/files/send-file.ts'
import { FileHeaders } from '../../inbox/team-api/media-schema.ts'
import {
  type AgentCaller,
  type AgentDeps,
  type AgentTool,
  authorizeTool,
  requireTool,
  runTool,
} from '../define-tool.ts'
import { filePath } from '../presenters/message.ts'
import { presentUpload, uploadFile, uploadKind, uploadName, uploadType } from '../tools/upload-file.ts'

export const basePath = '/api/v2'

/** Registers a route per tool. Path parameters, plus the query of a GET or the body otherwise, form its input. */
export function toolRoutes(
  app: App,
  deps: AgentDeps,
  guard: Pick<KeyGuard, 'anyKey' | 'authorize'>,
  tools: readonly AgentTool[],
): void {
  app.decorateRequest('agent', null)
  for (const tool of tools) {
    const { params, rest } = splitInput(tool)
    const isGet = tool.http.method === 'GET'
    const { maxBodyBytes } = tool.http
    app.route({
      method: tool.http.method as HTTPMethods,
      url: `${basePath}${tool.http.path}`,
      ...(maxBodyBytes !== undefined && { bodyLimit: maxBodyBytes }),
      onRequest: [
        guard.anyKey(),
        async (request, reply) => {
          request.call = { verb: tool.name }
          request.agent = await authorizeTool(guard, tool, callerOf(request))
          if (request.agent.rateLimitLeft !== null) setRateLimitHeaders(reply, request.agent.rateLimitLeft)
        },
      ],
      preValidation: async (request) => {
        // The body may be omitted when every field is optional.
        if (!isGet) request.body ??= {}
      },
      // Documented in `/api/v2/openapi.json` instead.
      schema: { hide: true, params, ...(isGet ? { querystring: rest } : { querystring: none, body: rest }) },
      handler: async (request, reply) => {
        const { query, body, params: named } = request as { query: object; body: object; params: object }
        const input = { ...(isGet ? query : body), ...named }
        const answer = await runTool(deps, tool, agentOf(request), input, closedSignal(reply))
        return reply.send(answer)
      },
    })
  }
}

const none = Type.Object({}, { additionalProperties: false })

interface InputParts {
  params: TObject
  rest: TObject
}

/** Splits a tool's input into path parameters and the rest. */
export function splitInput({ http, input }: AgentTool): InputParts {
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
  if (agent === null) throw new Error('The request has no authorized agent')
  return agent
}

/** Returns a signal that aborts when the client disconnects before the response is sent. */
function closedSignal({ raw }: FastifyReply): AbortSignal {
  const controller = new AbortController()
  raw.once('close', () => controller.abort())
  return controller.signal
}

/** Registers upload and download of files as raw bytes. They are not tools, because tools take and return JSON. */
export function agentFileRoutes(
  app: App,
  { inbox, uploads }: AgentDeps,
  guard: Pick<KeyGuard, 'inbox' | 'stillReads'>,
): void {
  readRoute(app, inbox, guard)
  acceptRawBodies(app, (scope) => uploadRoute(scope, uploads, guard))
}

/** For `then`: whether the promise is fulfilled. */
const yesOrNo = [() => true, () => false] as const

function readRoute(app: App, inbox: AgentDeps['inbox'], guard: Pick<KeyGuard, 'inbox' | 'stillReads'>): void {
  const withSlot = createFileSlots(downloadSlots)
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
      const conversation = await requireConversation(inbox.db.sql, scope, conversation_id.toLowerCase())
      return withSlot({ workspaceId, actor: { id: keyId } }, async () => {
        const reader = { workspaceId, actorId: keyId, conversationId: conversation.id }
        const file = await openMedia(inbox, reader, file_id.toLowerCase(), 'file')
        const { store, log, clock } = inbox
        const isAllowed = () => guard.stillReads(request, reply).then(...yesOrNo)
        return sendFile({ store, log, isStillAllowed: checkedAgain(clock, isAllowed) }, file, request, reply)
      })
    },
  })
}

function uploadRoute(app: App, uploads: AgentDeps['uploads'], guard: Pick<KeyGuard, 'inbox'>): void {
  const query = Type.Object(
    { kind: uploadKind, name: Type.Optional(uploadName), type: Type.Optional(uploadType) },
    { additionalProperties: false },
  )
  app.route({
    method: 'POST',
    url: '/api/v2/conversations/:conversation_id/files',
    bodyLimit: Number.MAX_SAFE_INTEGER,
    config: { takesFiles: true },
    onRequest: [guard.inbox('inbox.write'), async (request) => requireTool(callerOf(request), uploadFile.name)],
    schema: { hide: true, params: Type.Object({ conversation_id: uuid() }), querystring: query },
    handler: async (request, reply) => {
      const { kind, name = null, type = null } = request.query
      const upload = {
        ...readUpload(request),
        ...{ conversationId: request.params.conversation_id.toLowerCase(), kind, name },
        ...{ type: type ?? request.headers['content-type'] ?? null, seconds: null, waveform: null },
      }
      const uploaded = await uploads.create(callerOf(request), upload).catch(discardBody(request, reply))
      return reply.send(presentUpload(uploaded))
    },
  })
}
