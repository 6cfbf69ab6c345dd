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
import { eventCatalog, streamedNames } from '../webhooks/event-catalog.ts'
import type { Runtime } from './runtime.ts'

export interface Events {
  /** Adds the team's routes, once its guard exists. */
  serveTeam(teamGuard: TeamGuard): void
  /** For messages of modules to open pages. */
  live: Live
  /** For other consumers that wait for events. */
  watch: FeedWatch
}

/** Presents payloads. Each module declares the masked parts of its bodies. */
export const presentPayload = createPayloadPresenter(eventCatalog)

/** Frames that open pages of the team get in addition to events. */
const frames = { ...inboxFrames, ...notificationFrames, ...liveUpdateFrames }

/** Adds the event feed to the server, for keys to poll and for browsers to follow. */
export async function serveEvents(app: App, runtime: Runtime, guard: KeyGuard): Promise<Events> {
  const { db, keyStore, log, sequencer, repeat = repeatAfterPause } = runtime
  const watch = watchFeeds({ db, sequencer, log, repeat })
  const longPolls = createLongPolls({ db, sequencer, watch })
  // Ends polls of revoked and rotated keys, on every node including this one, after the guard has invalidated them.
  await db.listen('api_keys', longPolls.endWaitsOf)
  const readers = { db, sequencer, watch, keyStore, log, repeat }
  const live = createLive({ ...readers, names: streamedNames, present: presentPayload })
  // In `preClose`, because the server then waits for requests, and these would continue as long as allowed.
  app.addHook('preClose', async () => {
    longPolls.close()
    await Promise.all([live.close(), watch.close()])
  })
  feedRoutes(app, { keyStore, log, longPolls, catalog: eventCatalog, present: presentPayload }, guard)
  const contents = { names: streamedNames, frames }
  return { serveTeam: (teamGuard) => liveTeamRoutes(app, live, contents, teamGuard), live, watch }
}
