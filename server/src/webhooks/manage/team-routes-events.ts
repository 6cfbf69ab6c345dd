import { Type } from 'typebox'
import { type App, errors } from '../../base/route.ts'
import { faceOf } from '../../events/event-groups.ts'
import type { TeamGuard } from '../../team/member.ts'
import { workspaceParams } from '../../team/team-schema.ts'
import { eventCatalogue, eventNames, type KnownEvent } from '../event-catalogue.ts'
import { Catalogue } from './delivery-schema.ts'
import { webhookRoute } from './team-request.ts'

const sampleId = '01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e'
const sampleAt = new Date('2026-03-01T12:00:00.000Z')

export function eventCatalogueRoute(app: App, guard: TeamGuard): void {
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
