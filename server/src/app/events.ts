import type { Guard } from '../access/keys/guard.ts'
import { repeatAtPauses } from '../base/async/loop.ts'
import type { App } from '../base/route.ts'
import { presentBy } from '../events/feed.ts'
import { feedRoutes } from '../events/feed-routes.ts'
import { createLive, type Live } from '../events/live.ts'
import { liveTeamRoutes } from '../events/live-routes.ts'
import { createLongPolls } from '../events/long-poll.ts'
import { type FeedWatch, watchFeeds } from '../events/watch.ts'
import { inboxFrames } from '../inbox/team-api/live-conversations.ts'
import { noticeFrames } from '../notices/record.ts'
import type { TeamGuard } from '../team/member.ts'
import { teamNewsFrames } from '../team/team-news.ts'
import { eventCatalogue, eventNames } from '../webhooks/event-catalogue.ts'
import type { Runtime } from './runtime.ts'

export interface Events {
  /** The team's side, once its guard is there. */
  serveTeam(teamGuard: TeamGuard): void
  /** For what rooms tell the pages that are open. */
  live: Live
  /** For whoever else waits for what happens. */
  watch: FeedWatch
}

/** Each room says what in its bodies is to be masked. */
export const presentPayload = presentBy(eventCatalogue)

/** What beside the events the team's open pages are told. */
const frames = { ...inboxFrames, ...noticeFrames, ...teamNewsFrames }

/** Puts the feed of events on the server: for keys to pull, for browsers to follow. */
export async function serveEvents(app: App, runtime: Runtime, guard: Guard): Promise<Events> {
  const { db, vault, log, sequencer, repeat = repeatAtPauses } = runtime
  const watch = watchFeeds({ db, sequencer, log, repeat })
  const waits = createLongPolls({ db, sequencer, watch })
  // A key that was revoked or rotated: on every node, this one too, and after the guard has forgotten it.
  await db.listen('api_keys', waits.endOf)
  const live = createLive({ db, sequencer, watch, vault, log, repeat, names: eventNames, present: presentPayload })
  // Before the server waits for its requests to end: these would go on for as long as they may.
  app.addHook('preClose', async () => {
    waits.close()
    await Promise.all([live.close(), watch.close()])
  })
  feedRoutes(app, { vault, log, waits, catalogue: eventCatalogue, present: presentPayload }, guard)
  return { serveTeam: (teamGuard) => liveTeamRoutes(app, live, { names: eventNames, frames }, teamGuard), live, watch }
}
