import { hash } from 'node:crypto'
import type { FastifyError, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { ClientAddress } from '../../auth/api-keys/authenticate.ts'
import type { Limiter } from '../../auth/rate-limit/limiter.ts'
import { rateLimited } from '../../auth/rate-limit/request-limits.ts'
import { isSameSecret } from '../../base/encryption/secret-token.ts'
import { ApiError, badRequest, forbidden, unauthorized } from '../../base/errors.ts'
import { addressGroup } from '../../base/outgoing/address.ts'
import { type App, errors } from '../../base/route.ts'
import { setWorkspace } from '../../base/scheduling/work-context.ts'
import { count, maxHeadBytes, uuid } from '../../base/schema-types.ts'
import { parseJson } from '../../channels/waba/json.ts'
import { isSignedBy, parseSignature } from '../../channels/waba/webhook-routes.ts'
import { leadAdIdentity, openLeadAdConnection, parseLeadgen } from './lead-ads.ts'
import { valueAt } from './mapping.ts'
import type { SourceDeps } from './process-requests.ts'
import { verifyProof } from './proof.ts'
import { type Received, storeRequests } from './requests.ts'
import { findCalledSource, type LeadSource, sourceNotFound } from './source.ts'

export interface HookDeps extends SourceDeps {
  limiter: Limiter
  clientAddress: ClientAddress
}

export const maxBodyBytes = 64 * 1024
/** Requests a minute of one source, and of one network to all of them before it is known who calls. */
const [perSource, perNetwork] = [120, 600]

const path = '/hooks/leads/:workspaceId/:sourceId'
const params = Type.Object({
  workspaceId: uuid('The workspace.'),
  sourceId: uuid('The lead source.'),
})
const about = { tags: ['Lead sources'], security: [] as Record<string, string[]>[] }
const parameter = Type.Optional(Type.String({ maxLength: maxHeadBytes }))

/** Adds the public routes that lead sources call. They have their own scope, because a signature covers the raw bytes. */
export function leadHookRoutes(app: App, deps: HookDeps): void {
  app.register(async (scope: App) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: maxBodyBytes }, (_request, body, done) => {
      done(null, body)
    })
    scope.setErrorHandler((error: FastifyError) => {
      if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE') throw new ApiError(413, 'Body is larger than 64 KiB')
      throw error
    })
    receiveRoute(scope, deps)
    verifyRoute(scope, deps)
  })
}

function receiveRoute(scope: App, deps: HookDeps): void {
  scope.post(
    path,
    {
      schema: {
        ...about,
        operationId: 'receiveLead',
        summary: 'Receive a lead of a lead source',
        description:
          'JSON or a form-encoded body of at most 64 KiB, signed as in Standard Webhooks (`webhook-id`, `webhook-timestamp`, `webhook-signature`), or with the secret of the source as `token` in the URL. For lead ads, the callback of the platform. 200 means that it is stored; the lead follows. What was received before is counted in `repeated` and changes nothing. At most 120 requests a minute for each source.',
        params,
        querystring: Type.Object({ token: parameter }),
        response: {
          200: Type.Object({
            success: Type.Boolean({ example: true }),
            received: count('Leads that were new.', { example: 1 }),
            repeated: count('Leads that were received before.', { example: 0 }),
          }),
          ...errors(400, 401, 404, 413, 429, 500, 503),
        },
      },
    },
    async (request) => {
      const { source, workspaceId } = await findCalled(deps, request)
      const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
      const found =
        source.kind === 'lead_ads'
          ? await readLeadAds(deps, workspaceId, source, request, body)
          : readWebhook(deps, source, request, body)
      const take = await deps.limiter.take(`lead-source:${source.id}`, perSource)
      if (!take.allowed) throw rateLimited(take)
      const now = deps.clock.now()
      const received = await deps.keyStore.withKeyring(workspaceId, (keyring) =>
        deps.db.tx((tx) => storeRequests({ tx, keyring, workspaceId, now }, source.id, found)),
      )
      return { success: true, received, repeated: found.length - received }
    },
  )
}

function verifyRoute(scope: App, deps: HookDeps): void {
  scope.get(
    path,
    {
      schema: {
        ...about,
        operationId: 'verifyLeadSource',
        summary: 'Verify the URL of lead ads',
        description: 'Returns the challenge of the platform if the token matches the source.',
        params,
        querystring: Type.Object({ 'hub.mode': parameter, 'hub.challenge': parameter, 'hub.verify_token': parameter }),
        response: {
          200: {
            description: 'The challenge.',
            content: { 'text/plain': { schema: Type.String({ maxLength: maxHeadBytes }) } },
          },
          ...errors(400, 403, 404, 429, 503),
        },
      },
    },
    async (request, reply) => {
      const { source } = await findCalled(deps, request)
      const query = request.query as Record<string, string | undefined>
      const isValid =
        source.kind === 'lead_ads' && isSameSecret(query['hub.verify_token'] ?? '', source.settings.secret)
      if (query['hub.mode'] !== 'subscribe' || !isValid)
        throw forbidden('The verify token does not match this lead source')
      return reply.type('text/plain; charset=utf-8').send(query['hub.challenge'] ?? '')
    },
  )
}

/** Finds the source of the URL. A flood of one network ends before anything is verified; addresses are kept as digests. */
async function findCalled(
  deps: HookDeps,
  request: FastifyRequest,
): Promise<{ source: LeadSource; workspaceId: string }> {
  const { workspaceId, sourceId } = request.params as { workspaceId: string; sourceId: string }
  const [workspace, id] = [workspaceId.toLowerCase(), sourceId.toLowerCase()]
  const source = await findCalledSource(deps, workspace, id)
  if (source === undefined) throw sourceNotFound()
  setWorkspace(workspace)
  const keyring = await deps.keyStore.keyring(workspace)
  const address = addressGroup(deps.clientAddress(request.raw) ?? '')
  const network = keyring.stable('leads.source-address', address).toString('base64url')
  const take = await deps.limiter.take(`lead-source-network:${network}`, perNetwork)
  if (!take.allowed) throw rateLimited(take)
  return { source, workspaceId: workspace }
}

function readWebhook(deps: HookDeps, { settings }: LeadSource, request: FastifyRequest, body: Buffer): Received[] {
  const token = (request.query as { token?: string }).token ?? ''
  const proof = verifyProof(settings, { headers: request.headers, token, body }, deps.clock.now())
  if ('problem' in proof) throw unauthorized(proof.problem)
  const text = body.toString('utf8')
  const isForm = /^application\/x-www-form-urlencoded\b/i.test(request.headers['content-type'] ?? '')
  const payload = isForm ? Object.fromEntries(new URLSearchParams(text)) : parseJson(text)
  if (typeof payload !== 'object' || payload === null) throw badRequest('Send the body as JSON or form-encoded')
  const given = settings.idPath === null ? null : valueAt(payload, settings.idPath)
  const id = given ?? proof.id
  const identity = id === null ? `body ${hash('sha256', body)}` : `id ${id.slice(0, 1000)}`
  return [{ identity, content: { kind: isForm ? 'form' : 'json', body: text } }]
}

async function readLeadAds(
  deps: HookDeps,
  workspaceId: string,
  source: LeadSource,
  request: FastifyRequest,
  body: Buffer,
): Promise<Received[]> {
  const connection = await openLeadAdConnection(deps, workspaceId, source)
  const signature = parseSignature(request.headers['x-hub-signature-256'])
  if (connection === null || signature === null || !isSignedBy(connection.settings.appSecret, body, signature))
    throw unauthorized('The signature is missing or does not match the app secret of the connection')
  return parseLeadgen(parseJson(body.toString('utf8')), source.settings).map((leadId) => ({
    identity: leadAdIdentity(leadId),
    content: { kind: 'lead_ad', leadId, lead: null },
  }))
}
