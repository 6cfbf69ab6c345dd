import type { KeyGuard } from '../auth/api-keys/authenticate.ts'
import { repeatAfterPause } from '../base/async/loop.ts'
import type { App } from '../base/route.ts'
import { createPayloadPresenter } from '../events/feed.ts'
import { feedRoutes } from '../events/feed-routes.ts'
import { type FeedWatch, watchFeeds } from '../events/feed-watch.ts'
import { createLive, type Live } from '../events/live.ts'
import { liveTeamRoutes } from '../events/live-routes.ts'
import { createLongPolls } from '../events/long-poll.ts'
import { inboxFrames } from '../inbox/team-api/live-updates.ts'
import { notificationFrames } from '../notifications/record-notifications.ts'
import { liveUpdateFrames } from '../team/live-updates.ts'
import type { TeamGuard } from '../team/member.ts'
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
export const presentPayload = createPayloadPresenter(eventCatalogue)

/** What beside the events the team's open pages are told. */
const frames = { ...inboxFrames, ...notificationFrames, ...liveUpdateFrames }

/** Puts the feed of events on the server: for keys to pull, for browsers to follow. */
export async function serveEvents(app: App, runtime: Runtime, guard: KeyGuard): Promise<Events> {
  const { db, keyStore, log, sequencer, repeat = repeatAfterPause } = runtime
  const watch = watchFeeds({ db, sequencer, log, repeat })
  const longPolls = createLongPolls({ db, sequencer, watch })
  // A key that was revoked or rotated: on every node, this one too, and after the guard has forgotten it.
  await db.listen('api_keys', longPolls.endAllOf)
  const live = createLive({ db, sequencer, watch, keyStore, log, repeat, names: eventNames, present: presentPayload })
  // Before the server waits for its requests to end: these would go on for as long as they may.
  app.addHook('preClose', async () => {
    longPolls.close()
    await Promise.all([live.close(), watch.close()])
  })
  feedRoutes(app, { keyStore, log, longPolls, catalogue: eventCatalogue, present: presentPayload }, guard)
  return { serveTeam: (teamGuard) => liveTeamRoutes(app, live, { names: eventNames, frames }, teamGuard), live, watch }
}
