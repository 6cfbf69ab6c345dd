import type { Guard } from '../access/keys/guard.ts'
import { repeatAtPauses } from '../base/async/loop.ts'
import type { App } from '../base/route.ts'
import { faceOf } from '../events/catalogue.ts'
import type { PresentPayload } from '../events/feed.ts'
import { feedRoutes } from '../events/feed-routes.ts'
import type { PayloadSchemas } from '../events/feed-schema.ts'
import { createLive, type Live } from '../events/live.ts'
import { liveTeamRoutes } from '../events/live-routes.ts'
import { createLongPolls } from '../events/long-poll.ts'
import { watchFeeds } from '../events/watch.ts'
import { MessageReceived, MessageSent, MessageStatus, OwnerChanged } from '../inbox/api/event-schema.ts'
import { presentEvent } from '../inbox/api/present.ts'
import { presentLeadEvent } from '../leads/lead/present.ts'
import { LeadEvent } from '../leads/lead/schema.ts'
import type { TeamGuard } from '../team/member.ts'
import type { Runtime } from './runtime.ts'

export interface Events {
  /** The team's side, once its guard is there. */
  serveTeam(teamGuard: TeamGuard): void
  /** For what rooms tell the pages that are open. */
  live: Live
}

/** Each room knows what in its bodies is to be masked. */
export const presentPayload: PresentPayload = (name, payload, view) =>
  faceOf(name) === 'leads' ? presentLeadEvent(payload, view.masked) : presentEvent(name, payload, view)

const payloads: PayloadSchemas = {
  'lead.created': LeadEvent,
  'lead.updated': LeadEvent,
  'lead.deleted': LeadEvent,
  'lead.restored': LeadEvent,
  'inbox.message.received': MessageReceived,
  'inbox.message.sent': MessageSent,
  'inbox.message.status': MessageStatus,
  'inbox.conversation.owner_changed': OwnerChanged,
}

/** Puts the feed of events on the server: for keys to pull, for browsers to follow. */
export async function serveEvents(app: App, runtime: Runtime, guard: Guard): Promise<Events> {
  const { db, vault, log, sequencer, repeat = repeatAtPauses } = runtime
  const watch = watchFeeds({ db, sequencer, log, repeat })
  const waits = createLongPolls({ db, sequencer, watch })
  // A key that was revoked or rotated: on every node, this one too, and after the guard has forgotten it.
  await db.listen('api_keys', waits.endOf)
  const live = createLive({ db, sequencer, watch, vault, log, repeat, present: presentPayload })
  // Before the server waits for its requests to end: these would go on for as long as they may.
  app.addHook('preClose', async () => {
    waits.close()
    await Promise.all([live.close(), watch.close()])
  })
  feedRoutes(app, { vault, log, waits, payloads, present: presentPayload }, guard)
  return { serveTeam: (teamGuard) => liveTeamRoutes(app, live, teamGuard), live }
}
