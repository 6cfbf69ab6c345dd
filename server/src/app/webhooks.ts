import type { App } from '../base/route.ts'
import { sampleInboxEvent } from '../inbox/api/sample-events.ts'
import { sampleLeadEvent } from '../leads/lead/sample-event.ts'
import type { TeamGuard } from '../team/member.ts'
import type { WebhookDeps } from '../webhooks/manage/deps.ts'
import { webhookTeamRoutes } from '../webhooks/manage/team-routes.ts'
import { presentPayload } from './events.ts'
import type { Runtime } from './runtime.ts'

/** Puts the team's side of webhooks on the server. */
export function serveWebhooks(app: App, runtime: Runtime, teamGuard: TeamGuard): void {
  webhookTeamRoutes(app, { ...runtime, sampleEvent, present: presentPayload }, teamGuard)
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
