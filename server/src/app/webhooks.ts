import type { App } from '../base/route.ts'
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
  const deps: WebhookDeps = { ...runtime, present: presentPayload }
  eventCatalogueRoute(app, teamGuard)
  endpointTeamRoutes(app, deps, teamGuard)
  endpointSwitchRoutes(app, deps, teamGuard)
  deliveryTeamRoutes(app, deps, teamGuard)
  replayTeamRoutes(app, deps, teamGuard)
}
