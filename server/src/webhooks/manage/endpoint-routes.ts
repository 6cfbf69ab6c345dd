import { Type } from 'typebox'
import type { App } from '../../base/route.ts'
import { unpaged } from '../../base/schema-types.ts'
import { areaOf } from '../../events/record.ts'
import type { TeamGuard } from '../../team/member.ts'
import { type TeamApi, teamApi } from '../../team/team-api.ts'
import { disableEndpoint } from '../endpoint/disable.ts'
import { decryptEndpoint, requireEndpoint, selectEndpoints } from '../endpoint/endpoint.ts'
import { selectEndpointStatuses } from '../endpoint/queue-status.ts'
import {
  Enabling,
  EndpointAnswer,
  EndpointChanges,
  EndpointParams,
  EndpointWithSecret,
  NewEndpoint,
  OneEndpoint,
  Rotation,
} from '../endpoint/schema.ts'
import { eventCatalogue, eventNames, type KnownEvent } from '../event-catalogue.ts'
import { changeEndpoint, createEndpoint, enableEndpoint, removeEndpoint, rotateSecret } from './change-endpoint.ts'
import { deliveryRoutes } from './delivery-routes.ts'
import { Catalogue } from './delivery-schema.ts'
import {
  canSeeUrl,
  endpointPath,
  parseTime,
  presentEndpoint,
  readEndpoint,
  type WebhookDeps,
  webhooksPath,
} from './read-endpoint.ts'
import { replayRoutes } from './replay-routes.ts'

const countUpTo = 1000
const hourMs = 3_600_000

const sampleId = '01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e'
const sampleAt = new Date('2026-03-01T12:00:00.000Z')

const events = eventNames.map((name) => ({ name, fires: eventCatalogue[name].guide, sample: sampleOf(name) }))

function sampleOf(name: KnownEvent): object {
  const { payload } = eventCatalogue[name].sample(sampleId, sampleAt)
  return areaOf(name) === 'leads' ? payload : { event: name, payload }
}

/** Endpoints, what was delivered to them, and what may be. */
export function webhookTeamRoutes(app: App, deps: WebhookDeps, guard: TeamGuard): void {
  const api = teamApi(app, guard, 'Webhooks')
  api.get('/api/team/v1/workspaces/:workspaceId/webhook-events', 'member', {
    operationId: 'listWebhookEvents',
    summary: 'List the events that webhooks can send',
    description: 'Each with when it fires and a body as it is sent.',
    answers: { 200: Catalogue },
    run: () => ({ events }),
  })
  api.get(webhooksPath, 'member', {
    operationId: 'listWebhooks',
    summary: 'List webhook endpoints',
    description: 'The newest first, with how they fare.',
    answers: { 200: Type.Object({ endpoints: Type.Array(EndpointAnswer, unpaged) }) },
    run: async ({ member }) => {
      const { workspaceId } = member
      const rows = await selectEndpoints(deps.db.sql, workspaceId, null)
      const ids = rows.map(({ id }) => id)
      const statuses = await selectEndpointStatuses(deps.db.sql, workspaceId, ids, countUpTo)
      const now = deps.clock.now()
      return deps.keyStore.withKeyring(workspaceId, (keyring) => ({
        endpoints: rows.map((row) =>
          presentEndpoint(decryptEndpoint(keyring, row), statuses.get(row.id), canSeeUrl(member), now),
        ),
      }))
    },
  })
  endpointRoutes(api, deps)
  secretAndStateRoutes(api, deps)
  deliveryRoutes(api, deps)
  replayRoutes(api, deps)
}

function endpointRoutes(api: TeamApi, deps: WebhookDeps): void {
  api.post(webhooksPath, 'admin', {
    operationId: 'createWebhook',
    summary: 'Create a webhook endpoint',
    description:
      'For admins. It is told of what happens from now on. Its secret is in this answer and nowhere else. A workspace has at most 100 endpoints.',
    body: NewEndpoint,
    answers: { 201: EndpointWithSecret },
    errors: [409],
    run: async ({ member, body }) => {
      const { id, settings } = await createEndpoint(deps, member, body)
      const endpoint = await readEndpoint(deps, member, id)
      return { endpoint, secret: settings.secrets[0]?.value ?? '' }
    },
  })
  api.get(endpointPath, 'member', {
    operationId: 'getWebhook',
    summary: 'Read a webhook endpoint',
    description: 'Its settings and how it fares; secrets and the values of headers are not shown.',
    params: EndpointParams,
    answers: { 200: OneEndpoint },
    run: async ({ member, params }) => ({
      endpoint: await readEndpoint(deps, member, params.endpointId),
    }),
  })
  api.patch(endpointPath, 'admin', {
    operationId: 'updateWebhook',
    summary: 'Change a webhook endpoint',
    description:
      'For admins. Send only what changes. A new address or header counts for everything that is still to be sent; an address on another server needs `headers` again, if there are any; masking phones counts for earlier events too, and an event that was masked once stays so.',
    params: EndpointParams,
    body: EndpointChanges,
    answers: { 200: OneEndpoint },
    run: async ({ member, params: { endpointId }, body }) => {
      await changeEndpoint(deps, member, endpointId, body)
      return { endpoint: await readEndpoint(deps, member, endpointId) }
    },
  })
  api.delete(endpointPath, 'admin', {
    operationId: 'deleteWebhook',
    summary: 'Delete a webhook endpoint',
    description: 'For admins. Nothing more is sent; its address, headers and secrets are destroyed, its log as well.',
    params: EndpointParams,
    run: ({ member, params }) => removeEndpoint(deps, member, params.endpointId),
  })
}

/** Its secret, and whether it is on. */
function secretAndStateRoutes(api: TeamApi, deps: WebhookDeps): void {
  api.post(`${endpointPath}/rotate-secret`, 'admin', {
    operationId: 'rotateWebhookSecret',
    summary: 'Rotate a signing secret',
    description:
      'For admins. The new secret is in this answer and nowhere else. Until the overlap has passed each request carries a signature by either, so the receiver can change over at its leisure.',
    params: EndpointParams,
    body: Rotation,
    answers: { 200: EndpointWithSecret },
    run: async ({ member, params: { endpointId }, body }) => {
      const secret = await rotateSecret(deps, member, endpointId, body.overlapHours * hourMs)
      return { endpoint: await readEndpoint(deps, member, endpointId), secret }
    },
  })
  api.post(`${endpointPath}/disable`, 'admin', {
    operationId: 'disableWebhook',
    summary: 'Disable a webhook endpoint',
    description: 'For admins. Nothing more is sent; what waits is cancelled. Does nothing to a disabled one.',
    params: EndpointParams,
    answers: { 200: OneEndpoint },
    run: async ({ member, params: { endpointId } }) => {
      const { workspaceId, actor } = member
      await deps.db.tx(async (tx) => {
        const endpoint = await requireEndpoint(tx, { workspaceId, id: endpointId }, 'for update')
        await disableEndpoint(tx, endpoint, 'member', actor, deps.clock.now())
      })
      return { endpoint: await readEndpoint(deps, member, endpointId) }
    },
  })
  api.post(`${endpointPath}/enable`, 'admin', {
    operationId: 'enableWebhook',
    summary: 'Enable a webhook endpoint',
    description:
      'For admins. It is told of what happens from now on; with `sendSince` also of what it has missed. Does nothing to an active one, unless `sendSince` is sent: then 409.',
    params: EndpointParams,
    body: Enabling,
    answers: { 200: OneEndpoint },
    errors: [409],
    run: async ({ member, params: { endpointId }, body: { sendSince } }) => {
      await enableEndpoint(deps, member, endpointId, sendSince === undefined ? null : parseTime('sendSince', sendSince))
      return { endpoint: await readEndpoint(deps, member, endpointId) }
    },
  })
}
