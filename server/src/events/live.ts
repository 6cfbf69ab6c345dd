import { isAbout, revokedAccessTopic } from '../auth/users/members.ts'
import { singleFlight } from '../base/async/batch.ts'
import type { Repeat } from '../base/async/loop.ts'
import type { Db } from '../base/db.ts'
import type { Log } from '../base/log.ts'
import { liveUpdatesTopic, readLiveUpdate } from '../team/live-updates.ts'
import { feedState } from './feed.ts'
import type { FeedWatch } from './feed-watch.ts'
import { broadcast, catchUp, type LiveFeed, type LiveFeedDeps, maxBehind } from './live-feed.ts'
import {
  checkStreams,
  destroyStream,
  isOpen,
  liveUpdateFrame,
  resetFrame,
  type Stream,
  sendBytes,
  sendHeartbeat,
  startFrame,
} from './live-stream.ts'
import { areaOf } from './record.ts'

export interface LiveDeps extends LiveFeedDeps {
  db: Pick<Db, 'sql' | 'subscribe' | 'onReconnect'>
  watch: FeedWatch
  log: Log
  repeat: Repeat
}

export type NewStream = Omit<Stream, 'position' | 'wasFull'> & {
  /** Where it has stopped reading, `unknown` when nobody can tell; null: it begins with what comes from now on. */
  after: number | 'unknown' | null
}

/** What the inbox tells the pages that are open, beside the events. */
export interface LiveUpdate {
  /** `team.…` */
  name: string
  data: object
  /** Only to this member's browsers. */
  userId?: string
}

/** Streams of events to browsers. */
export interface Live {
  /** Whether anybody here follows the workspace: if not, nothing need be told. */
  hasStreams(workspaceId: string): boolean
  /** Tells the browsers that may see the inbox. Whoever is away then is not told later. */
  publish(workspaceId: string, liveUpdate: LiveUpdate): void
  /** Resolves when the stream has ended. */
  addStream(stream: NewStream): Promise<void>
  /** Ends every stream at once. */
  close(): Promise<void>
}

const heartbeatMs = 15_000
const checkMs = 10_000

export function createLive(deps: LiveDeps): Live {
  const { log, repeat } = deps
  const followedFeeds = followFeeds(deps)
  const streams = new Set<Stream>()
  const onError = (error: unknown) => log.warn('failed to check live streams; retrying', {}, error)
  const loops = [
    repeat(heartbeatMs, async () => streams.forEach(sendHeartbeat), onError),
    repeat(checkMs, () => checkStreams(streams, onError), onError),
  ]
  const streamsOf = (workspaceId: string) => [...streams].filter((stream) => stream.workspaceId === workspaceId)
  const publish: Live['publish'] = (workspaceId, { name, data, userId }) => {
    const bytes = liveUpdateFrame(name, data)
    for (const stream of streamsOf(workspaceId)) {
      const sees = isOpen(stream) && stream.names.some((each) => areaOf(each) === 'inbox')
      if (sees && (userId === undefined || userId === stream.userId)) sendBytes(stream, bytes)
    }
  }
  const stopListening = [
    deps.db.subscribe(liveUpdatesTopic, (id) => {
      const liveUpdate = readLiveUpdate(id)
      if (liveUpdate !== null) publish(liveUpdate.workspaceId, liveUpdate)
    }),
    // Whoever may still follow comes back by itself, and loses nothing; whoever may not is refused at the door.
    deps.db.subscribe(revokedAccessTopic, (liveUpdate) => {
      for (const stream of streams) if (isAbout(liveUpdate, stream)) destroyStream(stream)
    }),
    // Events are looked for, but what is told beside them was told once, and not to us.
    deps.db.onReconnect(() => {
      for (const stream of streams) if (isOpen(stream)) sendBytes(stream, resetFrameFor(stream))
      checkStreams(streams, onError)
    }),
  ]
  return {
    hasStreams: (workspaceId) => streamsOf(workspaceId).length > 0,
    publish,
    addStream: async ({ after, ...requested }) => {
      // A client that left while it was let in tells of it no more.
      const closed = requested.out.destroyed || new Promise((resolve) => requested.out.once('close', resolve))
      const stream: Stream = { ...requested, position: 0, wasFull: false }
      streams.add(stream)
      try {
        // From here on it is told of what changes; before, between the door and here, it did not.
        if ((await stream.readNames()) === null) return
        await startStream(deps, stream, after)
        const { feed, leave } = followedFeeds.enter(stream)
        try {
          await catchUp(deps, feed, stream)
          await closed
        } finally {
          leave()
        }
      } catch (error) {
        // The answer has begun: the browser comes back and goes on.
        log.warn('live stream failed; the browser will reconnect', { workspaceId: stream.workspaceId }, error)
      } finally {
        streams.delete(stream)
        stream.out.end()
      }
    },
    close: async () => {
      for (const stop of stopListening) stop()
      for (const { out } of streams) out.end()
      await Promise.all(loops.map((loop) => loop.stop()))
    },
  }
}

/** Its place stays: no event was missed. */
const resetFrameFor = ({ workspaceId, position }: Stream) => Buffer.from(resetFrame(workspaceId, position))

/** Says where the stream begins: after what the client has, or at the end when that is out of reach. */
async function startStream({ db, sequencer }: LiveDeps, stream: Stream, after: NewStream['after']): Promise<void> {
  const { workspaceId, out } = stream
  await sequencer.sequence(workspaceId)
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
      broadcast(deps, feed).catch((error) =>
        deps.log.warn('failed to read events for live streams; retrying', { workspaceId }, error),
      ),
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
