import { Type } from 'typebox'
import { type App, errors } from '../../base/route.ts'
import { unpaged } from '../../base/schema-types.ts'
import { faceOf } from '../../events/event-groups.ts'
import { memberOf, type TeamGuard } from '../../team/member.ts'
import { done, workspaceParams } from '../../team/team-schema.ts'
import { openEndpoint, selectEndpoints } from '../endpoint/endpoint.ts'
import { presentEndpoint } from '../endpoint/present.ts'
import { selectEndpointStatuses } from '../endpoint/queue-status.ts'
import {
  EndpointAnswer,
  EndpointChanges,
  EndpointParams,
  EndpointWithSecret,
  NewEndpoint,
  OneEndpoint,
} from '../endpoint/schema.ts'
import { eventCatalogue, eventNames, type KnownEvent } from '../event-catalogue.ts'
import { changeEndpoint, createEndpoint, removeEndpoint } from './change.ts'
import { Catalogue } from './delivery-schema.ts'
import type { WebhookDeps } from './deps.ts'
import { endpointPath, readEndpoint, seesAddress, webhookRoute, webhooksPath } from './team-request.ts'
import { deliveryTeamRoutes } from './team-routes-deliveries.ts'
import { replayTeamRoutes } from './team-routes-replays.ts'
import { endpointSwitchRoutes } from './team-routes-switch.ts'

const countUpTo = 1000

/** Endpoints, what was delivered to them, and what may be. */
export function webhookTeamRoutes(app: App, deps: WebhookDeps, guard: TeamGuard): void {
  eventCatalogueRoute(app, guard)
  listRoute(app, deps, guard)
  createRoute(app, deps, guard)
  readRoute(app, deps, guard)
  changeRoute(app, deps, guard)
  removeRoute(app, deps, guard)
  endpointSwitchRoutes(app, deps, guard)
  deliveryTeamRoutes(app, deps, guard)
  replayTeamRoutes(app, deps, guard)
}

function listRoute(app: App, deps: WebhookDeps, guard: TeamGuard): void {
  app.route({
    method: 'GET',
    url: webhooksPath,
    onRequest: guard.member('member'),
    schema: {
      ...webhookRoute,
      operationId: 'listWebhooks',
      summary: 'List webhook endpoints',
      description: 'The newest first, with how they fare.',
      params: Type.Object(workspaceParams),
      response: { 200: Type.Object({ endpoints: Type.Array(EndpointAnswer, unpaged) }), ...errors(400, 401, 403, 404) },
    },
    handler: async (request) => {
      const member = memberOf(request)
      const { workspaceId } = member
      const rows = await selectEndpoints(deps.db.sql, workspaceId)
      const ids = rows.map(({ id }) => id)
      const statuses = await selectEndpointStatuses(deps.db.sql, workspaceId, ids, countUpTo)
      const now = deps.clock.now()
      return deps.vault.withKeyring(workspaceId, (keyring) => ({
        endpoints: rows.map((row) =>
          presentEndpoint(openEndpoint(keyring, row), statuses.get(row.id), seesAddress(member), now),
        ),
      }))
    },
  })
}

function createRoute(app: App, deps: WebhookDeps, guard: TeamGuard): void {
  app.route({
    method: 'POST',
    url: webhooksPath,
    onRequest: guard.member('admin'),
    schema: {
      ...webhookRoute,
      operationId: 'createWebhook',
      summary: 'Create a webhook endpoint',
      description:
        'For admins. It is told of what happens from now on. Its secret is in this answer and nowhere else. A workspace has at most 100 endpoints.',
      params: Type.Object(workspaceParams),
      body: NewEndpoint,
      response: { 201: EndpointWithSecret, ...errors(400, 401, 403, 404, 409, 413, 415) },
    },
    handler: async (request, reply) => {
      const member = memberOf(request)
      const { id, settings } = await createEndpoint(deps, member, request.body)
      const endpoint = await readEndpoint(deps, member, id)
      return reply.code(201).send({ endpoint, secret: settings.secrets[0]?.value ?? '' })
    },
  })
}

function readRoute(app: App, deps: WebhookDeps, guard: TeamGuard): void {
  app.route({
    method: 'GET',
    url: endpointPath,
    onRequest: guard.member('member'),
    schema: {
      ...webhookRoute,
      operationId: 'getWebhook',
      summary: 'Read a webhook endpoint',
      description: 'Its settings and how it fares; secrets and the values of headers are not shown.',
      params: EndpointParams,
      response: { 200: OneEndpoint, ...errors(400, 401, 403, 404) },
    },
    handler: async (request) => ({
      endpoint: await readEndpoint(deps, memberOf(request), request.params.endpointId),
    }),
  })
}

function changeRoute(app: App, deps: WebhookDeps, guard: TeamGuard): void {
  app.route({
    method: 'PATCH',
    url: endpointPath,
    onRequest: guard.member('admin'),
    schema: {
      ...webhookRoute,
      operationId: 'updateWebhook',
      summary: 'Change a webhook endpoint',
      description:
        'For admins. Send only what changes. A new address or header counts for everything that is still to be sent; an address on another server needs `headers` again, if there are any; masking phones counts for earlier events too, and an event that was masked once stays so.',
      params: EndpointParams,
      body: EndpointChanges,
      response: { 200: OneEndpoint, ...errors(400, 401, 403, 404, 413, 415) },
    },
    handler: async (request) => {
      const member = memberOf(request)
      const { endpointId } = request.params
      await changeEndpoint(deps, member, endpointId, request.body)
      return { endpoint: await readEndpoint(deps, member, endpointId) }
    },
  })
}

function removeRoute(app: App, deps: WebhookDeps, guard: TeamGuard): void {
  app.route({
    method: 'DELETE',
    url: endpointPath,
    onRequest: guard.member('admin'),
    schema: {
      ...webhookRoute,
      operationId: 'deleteWebhook',
      summary: 'Delete a webhook endpoint',
      description: 'For admins. Nothing more is sent; its address, headers and secrets are destroyed, its log as well.',
      params: EndpointParams,
      response: { 200: done, ...errors(400, 401, 403, 404) },
    },
    handler: async (request) => {
      await removeEndpoint(deps, memberOf(request), request.params.endpointId)
      return { success: true }
    },
  })
}

const sampleId = '01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e'
const sampleAt = new Date('2026-03-01T12:00:00.000Z')

function eventCatalogueRoute(app: App, guard: TeamGuard): void {
  const events = eventNames.map((name) => ({ name, fires: eventCatalogue[name].guide, sample: sampleOf(name) }))
  app.route({
    method: 'GET',
    url: '/api/team/v1/workspaces/:workspaceId/webhook-events',
    onRequest: guard.member('member'),
    schema: {
      ...webhookRoute,
      operationId: 'listWebhookEvents',
      summary: 'List the events that webhooks can send',
      description: 'Each with when it fires and a body as it is sent.',
      params: Type.Object(workspaceParams),
      response: { 200: Catalogue, ...errors(400, 401, 403, 404) },
    },
    handler: async () => ({ events }),
  })
}

function sampleOf(name: KnownEvent): object {
  const { payload } = eventCatalogue[name].sample(sampleId, sampleAt)
  return faceOf(name) === 'leads' ? payload : { event: name, payload }
}
