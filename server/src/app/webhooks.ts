import type { App } from '../base/route.ts'
import { sampleInboxEvent } from '../inbox/api/sample-events.ts'
import { sampleLeadEvent } from '../leads/lead/sample-event.ts'
import type { TeamGuard } from '../team/member.ts'
import type { WebhookDeps } from '../webhooks/manage/deps.ts'
import { endpointTeamRoutes } from '../webhooks/manage/team-routes.ts'
import { deliveryTeamRoutes } from '../webhooks/manage/team-routes-deliveries.ts'
import { eventCatalogueRoute } from '../webhooks/manage/team-routes-events.ts'
import { replayTeamRoutes } from '../webhooks/manage/team-routes-replays.ts'
import { endpointSwitchRoutes } from '../webhooks/manage/team-routes-switch.ts'
import { presentPayload } from './events.ts'
import type { Runtime } from './runtime.ts'

/** Puts the team's side of webhooks on the server. */
export function serveWebhooks(app: App, runtime: Runtime, teamGuard: TeamGuard): void {
  const deps: WebhookDeps = { ...runtime, sampleEvent, present: presentPayload }
  eventCatalogueRoute(app, deps, teamGuard)
  endpointTeamRoutes(app, deps, teamGuard)
  endpointSwitchRoutes(app, deps, teamGuard)
  deliveryTeamRoutes(app, deps, teamGuard)
  replayTeamRoutes(app, deps, teamGuard)
}

const sampleEvent: WebhookDeps['sampleEvent'] = (name, id, at) => {
  switch (name) {
    case 'lead.created':
    case 'lead.updated':
    case 'lead.deleted':
    case 'lead.restored':
      return sampleLeadEvent(name, id, at)
    default:
      return sampleInboxEvent(name, id, at)
  }
}
