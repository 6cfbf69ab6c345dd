import type { App } from '../base/route.ts'
import type { TeamGuard } from '../team/member.ts'
import { webhookTeamRoutes } from '../webhooks/manage/team-routes.ts'
import { presentPayload } from './events.ts'
import type { Runtime } from './runtime.ts'

/** Puts the team's side of webhooks on the server. */
export function serveWebhooks(app: App, runtime: Runtime, teamGuard: TeamGuard): void {
  webhookTeamRoutes(app, { ...runtime, present: presentPayload }, teamGuard)
}
