import { type App, errors } from '../../base/route.ts'
import { memberOf, type TeamGuard } from '../../team/member.ts'
import { disableEndpoint } from '../endpoint/disable.ts'
import { lockEndpoint } from '../endpoint/endpoint.ts'
import { Enabling, EndpointParams, EndpointWithSecret, OneEndpoint, Rotation } from '../endpoint/schema.ts'
import { rotateSecret } from './change.ts'
import type { WebhookDeps } from './deps.ts'
import { enableEndpoint } from './enable.ts'
import { endpointPath, readEndpoint, readTime, webhookRoute } from './team-request.ts'

const hourMs = 3_600_000

export function endpointSwitchRoutes(app: App, deps: WebhookDeps, guard: TeamGuard): void {
  rotateRoute(app, deps, guard)
  disableRoute(app, deps, guard)
  enableRoute(app, deps, guard)
}

function rotateRoute(app: App, deps: WebhookDeps, guard: TeamGuard): void {
  app.route({
    method: 'POST',
    url: `${endpointPath}/rotate-secret`,
    onRequest: guard.member('admin'),
    schema: {
      ...webhookRoute,
      operationId: 'rotateWebhookSecret',
      summary: 'Rotate a signing secret',
      description:
        'For admins. The new secret is in this answer and nowhere else. Until the overlap has passed each request carries a signature by either, so the receiver can change over at its leisure.',
      params: EndpointParams,
      body: Rotation,
      response: { 200: EndpointWithSecret, ...errors(400, 401, 403, 404, 413, 415) },
    },
    handler: async (request) => {
      const member = memberOf(request)
      const { endpointId } = request.params
      const secret = await rotateSecret(deps, member, endpointId, request.body.overlapHours * hourMs)
      return { endpoint: await readEndpoint(deps, member, endpointId), secret }
    },
  })
}

function disableRoute(app: App, deps: WebhookDeps, guard: TeamGuard): void {
  app.route({
    method: 'POST',
    url: `${endpointPath}/disable`,
    onRequest: guard.member('admin'),
    schema: {
      ...webhookRoute,
      operationId: 'disableWebhook',
      summary: 'Disable a webhook endpoint',
      description: 'For admins. Nothing more is sent; what waits is cancelled. Does nothing to a disabled one.',
      params: EndpointParams,
      response: { 200: OneEndpoint, ...errors(400, 401, 403, 404) },
    },
    handler: async (request) => {
      const member = memberOf(request)
      const { workspaceId, actor } = member
      const { endpointId } = request.params
      await deps.db.tx(async (tx) => {
        await lockEndpoint(tx, workspaceId, endpointId)
        await disableEndpoint(tx, { workspaceId, id: endpointId }, 'member', actor, deps.clock.now())
      })
      return { endpoint: await readEndpoint(deps, member, endpointId) }
    },
  })
}

function enableRoute(app: App, deps: WebhookDeps, guard: TeamGuard): void {
  app.route({
    method: 'POST',
    url: `${endpointPath}/enable`,
    onRequest: guard.member('admin'),
    schema: {
      ...webhookRoute,
      operationId: 'enableWebhook',
      summary: 'Enable a webhook endpoint',
      description:
        'For admins. It is told of what happens from now on; with `sendSince` also of what it has missed. Does nothing to an active one, unless `sendSince` is sent: then 409.',
      params: EndpointParams,
      body: Enabling,
      response: { 200: OneEndpoint, ...errors(400, 401, 403, 404, 409, 413, 415) },
    },
    handler: async (request) => {
      const member = memberOf(request)
      const { endpointId } = request.params
      const { sendSince } = request.body
      await enableEndpoint(deps, member, endpointId, sendSince === undefined ? null : readTime('sendSince', sendSince))
      return { endpoint: await readEndpoint(deps, member, endpointId) }
    },
  })
}
