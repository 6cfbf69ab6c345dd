import { Type } from 'typebox'
import { timeOfId } from '../../base/id.ts'
import type { App } from '../../base/route.ts'
import { unpaged } from '../../base/schema-types.ts'
import { areaOf } from '../../events/record.ts'
import type { TeamGuard } from '../../team/member.ts'
import { type TeamApi, teamApi } from '../../team/team-api.ts'
import { disableEndpoint } from '../endpoint/disable.ts'
import { decryptEndpoint, requireEndpoint, selectEndpoints } from '../endpoint/endpoint.ts'
import { selectEndpointStatuses } from '../endpoint/queue-status.ts'
import { type ReplayRow, selectReplays } from '../endpoint/replay.ts'
import {
  EnableRequest,
  EndpointAnswer,
  EndpointChanges,
  EndpointParams,
  EndpointWithSecret,
  NewEndpoint,
  OneEndpoint,
  RotateSecretRequest,
} from '../endpoint/schema.ts'
import { eventCatalog, eventNames, type KnownEvent } from '../event-catalog.ts'
import {
  changeEndpoint,
  createEndpoint,
  enableEndpoint,
  removeEndpoint,
  replayRange,
  rotateSecret,
} from './change-endpoint.ts'
import { deliveryRoutes } from './delivery-routes.ts'
import { Catalog, NewReplay, Replay } from './delivery-schema.ts'
import {
  canSeeUrl,
  endpointPath,
  parseTime,
  presentEndpoint,
  readEndpoint,
  type WebhookDeps,
  webhooksPath,
} from './read-endpoint.ts'
import { statsRoute } from './stats.ts'

const countUpTo = 1000
const hourMs = 3_600_000

const sampleId = '01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e'
const sampleAt = new Date('2026-03-01T12:00:00.000Z')

const events = eventNames.map((name) => ({ name, fires: eventCatalog[name].guide, sample: sampleOf(name) }))

function sampleOf(name: KnownEvent): object {
  const { payload } = eventCatalog[name].sample(sampleId, sampleAt)
  return areaOf(name) === 'leads' ? payload : { event: name, payload }
}

export function webhookTeamRoutes(app: App, deps: WebhookDeps, guard: TeamGuard): void {
  const api = teamApi(app, guard, 'Webhooks')
  api.get('/api/team/v1/workspaces/:workspaceId/webhook-events', 'member', {
    operationId: 'listWebhookEvents',
    summary: 'List webhook events',
    description: 'All events that webhooks can send, with a description and a sample body.',
    answers: { 200: Catalog },
    run: () => ({ events }),
  })
  api.get(webhooksPath, 'member', {
    operationId: 'listWebhooks',
    summary: 'List webhook endpoints',
    description: 'Newest first, with their health.',
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
  statsRoute(api, deps)
}

function endpointRoutes(api: TeamApi, deps: WebhookDeps): void {
  api.post(webhooksPath, 'admin', {
    operationId: 'createWebhook',
    summary: 'Create a webhook endpoint',
    description:
      'For admins. It gets new events only. The secret is shown only in this response. A workspace can have at most 100 endpoints.',
    body: NewEndpoint,
    answers: { 201: EndpointWithSecret },
    errors: [409],
    run: async ({ member, body }) => {
      const { id, settings } = await createEndpoint(deps, member, body)
      return { ...(await readEndpoint(deps, member, id)), secret: settings.secrets[0]?.value ?? '' }
    },
  })
  api.get(endpointPath, 'member', {
    operationId: 'getWebhook',
    summary: 'Read a webhook endpoint',
    description: 'Settings and health; without secrets and header values.',
    params: EndpointParams,
    answers: { 200: OneEndpoint },
    run: ({ member, params }) => readEndpoint(deps, member, params.endpointId),
  })
  api.patch(endpointPath, 'admin', {
    operationId: 'updateWebhook',
    summary: 'Update a webhook endpoint',
    description:
      'For admins. Send only the fields to change. A new URL or header applies to all pending events. A URL on another server requires `headers` again, if there are any. Masking also applies to earlier events, and an event that was masked once stays masked.',
    params: EndpointParams,
    body: EndpointChanges,
    answers: { 200: OneEndpoint },
    run: async ({ member, params: { endpointId }, body }) => {
      await changeEndpoint(deps, member, endpointId, body)
      return readEndpoint(deps, member, endpointId)
    },
  })
  api.delete(endpointPath, 'admin', {
    operationId: 'deleteWebhook',
    summary: 'Delete a webhook endpoint',
    description: 'For admins. Stops all deliveries and deletes its URL, headers, secrets and log.',
    params: EndpointParams,
    run: ({ member, params }) => removeEndpoint(deps, member, params.endpointId),
  })
}

function secretAndStateRoutes(api: TeamApi, deps: WebhookDeps): void {
  api.post(`${endpointPath}/rotate-secret`, 'admin', {
    operationId: 'rotateWebhookSecret',
    summary: 'Rotate a signing secret',
    description:
      'For admins. The new secret is shown only in this response. Until the overlap ends, requests have a signature by each secret, so that the receiver can switch without downtime.',
    params: EndpointParams,
    body: RotateSecretRequest,
    answers: { 200: EndpointWithSecret },
    run: async ({ member, params: { endpointId }, body }) => {
      const secret = await rotateSecret(deps, member, endpointId, body.overlapHours * hourMs)
      return { ...(await readEndpoint(deps, member, endpointId)), secret }
    },
  })
  api.post(`${endpointPath}/disable`, 'admin', {
    operationId: 'disableWebhook',
    summary: 'Disable a webhook endpoint',
    description: 'For admins. Stops deliveries and cancels pending ones. Does nothing if it is disabled.',
    params: EndpointParams,
    answers: { 200: OneEndpoint },
    run: async ({ member, params: { endpointId } }) => {
      const { workspaceId, actor } = member
      await deps.db.tx(async (tx) => {
        const endpoint = await requireEndpoint(tx, { workspaceId, id: endpointId }, 'for update')
        await disableEndpoint(tx, endpoint, 'member', actor, deps.clock.now())
      })
      return readEndpoint(deps, member, endpointId)
    },
  })
  api.post(`${endpointPath}/enable`, 'admin', {
    operationId: 'enableWebhook',
    summary: 'Enable a webhook endpoint',
    description:
      'For admins. It gets new events; with `sendSince`, also those that it missed. Does nothing if it is active, but responds 409 if `sendSince` is set.',
    params: EndpointParams,
    body: EnableRequest,
    answers: { 200: OneEndpoint },
    errors: [409],
    run: async ({ member, params: { endpointId }, body: { sendSince } }) => {
      await enableEndpoint(deps, member, endpointId, sendSince === undefined ? null : parseTime('sendSince', sendSince))
      return readEndpoint(deps, member, endpointId)
    },
  })
}

function replayRoutes(api: TeamApi, deps: WebhookDeps): void {
  api.post(`${endpointPath}/replays`, 'admin', {
    operationId: 'createReplay',
    summary: 'Replay a time range',
    description:
      'For admins. Sends the matching events of the range in order, before newer ones. At most 5 replays can be open.',
    params: EndpointParams,
    body: NewReplay,
    answers: { 201: Type.Object({ replay: Replay }) },
    errors: [409],
    run: async ({ member, params, body }) => {
      const { endpointId } = params
      const { from, to, scope } = body
      const range = { from: parseTime('from', from), to: to === undefined ? null : parseTime('to', to), scope }
      const id = await replayRange(deps, member, endpointId, range)
      const key = { workspaceId: member.workspaceId, id: endpointId }
      const [row] = await selectReplays(deps.db.sql, key, id)
      if (row === undefined) throw new Error('Replay not found')
      return { replay: presentReplay(row) }
    },
  })
  api.get(`${endpointPath}/replays`, 'member', {
    operationId: 'listReplays',
    summary: 'List replays',
    description: 'The newest 100 of the last 30 days.',
    params: EndpointParams,
    answers: { 200: Type.Object({ replays: Type.Array(Replay, unpaged) }) },
    run: async ({ member: { workspaceId }, params }) => {
      const endpoint = await requireEndpoint(deps.db.sql, { workspaceId, id: params.endpointId })
      const rows = await selectReplays(deps.db.sql, endpoint, null)
      return { replays: rows.map(presentReplay) }
    },
  })
}

function presentReplay({ from, to, reached, createdAt, finishedAt, ...replay }: ReplayRow) {
  return {
    ...replay,
    from: from.toISOString(),
    to: to.toISOString(),
    reachedAt: reached === null ? null : timeOfId(reached).toISOString(),
    createdAt: createdAt.toISOString(),
    finishedAt: finishedAt?.toISOString() ?? null,
  }
}
