import { concerns, endedAccessTopic } from '../access/users/members.ts'
import { singleFlight } from '../base/async/batch.ts'
import type { Repeat } from '../base/async/loop.ts'
import type { Db } from '../base/db.ts'
import type { Log } from '../base/log.ts'
import { readTeamNews, teamTopic } from '../team/team-news.ts'
import { feedState } from './feed.ts'
import { catchUp, handOut, type LiveFeed, type LiveFeedDeps, maxBehind } from './live-feed.ts'
import {
  beat,
  checkStreams,
  cut,
  isOpen,
  resetFrame,
  type Stream,
  sendNow,
  startFrame,
  teamFrame,
} from './live-stream.ts'
import { faceOf } from './record.ts'
import type { FeedWatch } from './watch.ts'

export interface LiveDeps extends LiveFeedDeps {
  db: Pick<Db, 'sql' | 'onNews' | 'onHearingAgain'>
  watch: FeedWatch
  log: Log
  repeat: Repeat
}

export type NewStream = Omit<Stream, 'position' | 'wasFull'> & {
  /** Where it has stopped reading, `unknown` when nobody can tell; null: it begins with what comes from now on. */
  after: number | 'unknown' | null
}

/** What the inbox tells the pages that are open, beside the events. */
export interface TeamNews {
  /** `team.…` */
  name: string
  data: object
  /** Only to this member's browsers. */
  userId?: string
}

/** Streams of events to browsers. */
export interface Live {
  /** Whether anybody here follows the workspace: if not, nothing need be told. */
  isFollowed(workspaceId: string): boolean
  /** Tells the browsers that may see the inbox. Whoever is away then is not told later. */
  tell(workspaceId: string, news: TeamNews): void
  /** Resolves when the stream has ended. */
  follow(stream: NewStream): Promise<void>
  /** Ends every stream at once. */
  close(): Promise<void>
}

const heartbeatMs = 15_000
const checkMs = 10_000

export function createLive(deps: LiveDeps): Live {
  const { log, repeat } = deps
  const followed = followFeeds(deps)
  const streams = new Set<Stream>()
  const onError = (error: unknown) => log.warn('live streams not served', {}, error)
  const loops = [
    repeat(heartbeatMs, async () => streams.forEach(beat), onError),
    repeat(checkMs, () => checkStreams(streams, onError), onError),
  ]
  const streamsOf = (workspaceId: string) => [...streams].filter((stream) => stream.workspaceId === workspaceId)
  const tell: Live['tell'] = (workspaceId, { name, data, userId }) => {
    const bytes = teamFrame(name, data)
    for (const stream of streamsOf(workspaceId)) {
      const sees = isOpen(stream) && stream.names.some((each) => faceOf(each) === 'inbox')
      if (sees && (userId === undefined || userId === stream.userId)) sendNow(stream, bytes)
    }
  }
  const stopHearing = [
    deps.db.onNews(teamTopic, (id) => {
      const news = readTeamNews(id)
      if (news !== null) tell(news.workspaceId, news)
    }),
    // Whoever may still follow comes back by itself, and loses nothing; whoever may not is refused at the door.
    deps.db.onNews(endedAccessTopic, (news) => {
      for (const stream of streams) if (concerns(news, stream)) cut(stream)
    }),
    // Events are looked for, but what is told beside them was told once, and not to us.
    deps.db.onHearingAgain(() => {
      for (const stream of streams) if (isOpen(stream)) sendNow(stream, resetOf(stream))
      checkStreams(streams, onError)
    }),
  ]
  return {
    isFollowed: (workspaceId) => streamsOf(workspaceId).length > 0,
    tell,
    follow: async ({ after, ...asked }) => {
      // A client that left while it was let in tells of it no more.
      const closed = asked.out.destroyed || new Promise((resolve) => asked.out.once('close', resolve))
      const stream: Stream = { ...asked, position: 0, wasFull: false }
      streams.add(stream)
      try {
        // From here on it is told of what changes; before, between the door and here, it did not.
        if ((await stream.namesNow()) === null) return
        await begin(deps, stream, after)
        const { feed, leave } = followed.enter(stream)
        try {
          await catchUp(deps, feed, stream)
          await closed
        } finally {
          leave()
        }
      } catch (error) {
        // The answer has begun: the browser comes back and goes on.
        log.warn('live stream failed', { workspaceId: stream.workspaceId }, error)
      } finally {
        streams.delete(stream)
        stream.out.end()
      }
    },
    close: async () => {
      for (const stop of stopHearing) stop()
      for (const { out } of streams) out.end()
      await Promise.all(loops.map((loop) => loop.stop()))
    },
  }
}

/** Its place stays: no event was missed. */
const resetOf = ({ workspaceId, position }: Stream) => Buffer.from(resetFrame(workspaceId, position))

/** Says where the stream begins: after what the client has, or at the end when that is out of reach. */
async function begin({ db, sequencer }: LiveDeps, stream: Stream, after: NewStream['after']): Promise<void> {
  const { workspaceId, out } = stream
  await sequencer.place(workspaceId)
  const { last, removedTo } = await feedState(db.sql, workspaceId)
  const isWithinReach = typeof after === 'number' && after >= removedTo && after <= last && last - after <= maxBehind
  stream.position = isWithinReach ? after : last
  out.write(startFrame(workspaceId, stream.position))
  if (after !== null && !isWithinReach) out.write(resetFrame(workspaceId, last))
}

/** The feeds that have streams: each is read once, whatever their number. */
function followFeeds(deps: LiveDeps) {
  const feeds = new Map<string, { feed: LiveFeed; followers: number; stop(): void }>()
  const open = (workspaceId: string, position: number) => {
    const feed: LiveFeed = { workspaceId, position, streams: new Set() }
    const wake = singleFlight(() =>
      handOut(deps, feed).catch((error) => deps.log.warn('live feed not read', { workspaceId }, error)),
    )
    const stop = deps.watch.add({ workspaceId, position: () => feed.position, wake })
    // What was recorded before it was watched brought no news.
    void wake()
    const opened = { feed, followers: 0, stop }
    feeds.set(workspaceId, opened)
    return opened
  }
  return {
    enter: (stream: Stream): { feed: LiveFeed; leave(): void } => {
      const { workspaceId } = stream
      const entry = feeds.get(workspaceId) ?? open(workspaceId, stream.position)
      entry.followers++
      const leave = () => {
        entry.feed.streams.delete(stream)
        entry.followers--
        if (entry.followers > 0) return
        entry.stop()
        feeds.delete(workspaceId)
      }
      return { feed: entry.feed, leave }
    },
  }
}
