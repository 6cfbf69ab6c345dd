import { concernsFollower, revokedAccessTopic } from '../auth/users/members.ts'
import { singleFlight } from '../base/async/batch.ts'
import type { Repeat } from '../base/async/loop.ts'
import type { Db } from '../base/db.ts'
import type { KeyStore } from '../base/encryption/key-store.ts'
import type { Log } from '../base/log.ts'
import { liveUpdatesTopic, readLiveUpdate } from '../team/live-updates.ts'
import { decryptEach, feedState, type PresentPayload, parsePayload, presentEvent } from './feed.ts'
import type { FeedWatch } from './feed-watch.ts'
import {
  checkStreams,
  createFrame,
  destroyStream,
  type Frame,
  isOpen,
  liveUpdateFrame,
  maxWaitingBytes,
  resetFrame,
  type Stream,
  send,
  sendBytes,
  sendHeartbeat,
  startFrame,
  waitForDrain,
} from './live-stream.ts'
import { type FeedDeps, readPage } from './read-page.ts'
import { areaOf, type EventName } from './record.ts'

export interface LiveDeps extends FeedDeps {
  db: Pick<Db, 'sql' | 'subscribe' | 'onReconnect'>
  keyStore: KeyStore
  watch: FeedWatch
  log: Log
  repeat: Repeat
  present: PresentPayload
  /** Names of all events. */
  names: readonly EventName[]
}

export type NewStream = Omit<Stream, 'position' | 'wasFull'> & {
  /** Position to resume after; `unknown` for an invalid cursor; null: start with new events. */
  after: number | 'unknown' | null
}

/** A live-only update of the inbox for open pages. */
export interface LiveUpdate {
  /** `team.…` */
  name: string
  data: object
  /** Sends it only to browsers of this member. */
  userId?: string
}

/** Event streams to browsers. */
export interface Live {
  /** Returns whether this process has streams of the workspace; if not, updates need not be published. */
  hasStreams(workspaceId: string): boolean
  /** Sends an update to browsers that may see the inbox. Browsers that are offline miss it. */
  publish(workspaceId: string, liveUpdate: LiveUpdate): void
  /** Resolves when the stream has ended. */
  addStream(stream: NewStream): Promise<void>
  close(): Promise<void>
}

const heartbeatMs = 15_000
const checkMs = 10_000
const pageSize = 200
/** Events that a stream can be behind; beyond, the browser reloads its page. */
const maxBehind = 5_000

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
      const canSee = isOpen(stream) && stream.names.some((each) => areaOf(each) === 'inbox')
      if (canSee && (userId === undefined || userId === stream.userId)) sendBytes(stream, bytes)
    }
  }
  const stopListening = [
    deps.db.subscribe(liveUpdatesTopic, (id) => {
      const liveUpdate = readLiveUpdate(id)
      if (liveUpdate !== null) publish(liveUpdate.workspaceId, liveUpdate)
    }),
    // A browser that still has access reconnects without loss; another one is rejected.
    deps.db.subscribe(revokedAccessTopic, (liveUpdate) => {
      for (const stream of streams) if (concernsFollower(liveUpdate, stream)) destroyStream(stream)
    }),
    // Polling recovers missed events, but not missed live-only updates: browsers must reload.
    deps.db.onReconnect(() => {
      for (const stream of streams) if (isOpen(stream)) sendBytes(stream, resetFrameFor(stream))
      checkStreams(streams, onError)
    }),
  ]
  return {
    hasStreams: (workspaceId) => streamsOf(workspaceId).length > 0,
    publish,
    addStream: async ({ after, ...requested }) => {
      // A client that has disconnected already emits no more `close`.
      const closed = requested.out.destroyed || new Promise((resolve) => requested.out.once('close', resolve))
      const stream: Stream = { ...requested, position: 0, wasFull: false }
      streams.add(stream)
      try {
        // Checks access after registration: changes between authorization and here were not reported to the stream.
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
        // The response has started: the browser reconnects and resumes.
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

/** Keeps the position: no event was missed. */
const resetFrameFor = ({ workspaceId, position }: Stream) => Buffer.from(resetFrame(workspaceId, position))

/** Sends the start position: after the client's cursor, or the end of the feed if the cursor is out of reach. */
async function startStream({ db, sequencer }: LiveDeps, stream: Stream, after: NewStream['after']): Promise<void> {
  const { workspaceId, out } = stream
  await sequencer.sequence(workspaceId)
  const { last, removedTo } = await feedState(db.sql, workspaceId)
  const isWithinReach = typeof after === 'number' && after >= removedTo && after <= last && last - after <= maxBehind
  stream.position = isWithinReach ? after : last
  out.write(startFrame(workspaceId, stream.position))
  if (after !== null && !isWithinReach) out.write(resetFrame(workspaceId, last))
}

/** Reads each feed with streams once, regardless of their number. */
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
    // Events that were recorded before the subscription caused no notification.
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

/** A followed workspace: one read serves all its streams. */
interface LiveFeed {
  workspaceId: string
  position: number
  /** Streams that have caught up with `position`. */
  streams: Set<Stream>
}

/** Sends new events to all streams that have caught up. Must not run concurrently for one feed. */
async function broadcast(deps: LiveDeps, feed: LiveFeed): Promise<void> {
  let isBehind = true
  while (isBehind) {
    const { frames, position, hasMore } = await readFrames(deps, feed.workspaceId, feed.position)
    feed.position = position
    isBehind = hasMore
    for (const stream of feed.streams) {
      advance(stream, frames, position)
      if (stream.out.writableLength > maxWaitingBytes) detachStream(deps, feed, stream)
    }
  }
}

/** Sends events to a stream until it has caught up, then adds it to the feed. */
async function catchUp(deps: LiveDeps, feed: LiveFeed, stream: Stream): Promise<void> {
  while (isOpen(stream)) {
    if (stream.out.writableNeedDrain) await waitForDrain(stream)
    else if (stream.position >= feed.position) {
      feed.streams.add(stream)
      return
    } else if (feed.position - stream.position > maxBehind) {
      // The browser reconnects and gets a reset.
      stream.out.destroy()
    } else {
      const { frames, position } = await readFrames(deps, feed.workspaceId, stream.position)
      advance(stream, frames, position)
    }
  }
}

/** Lets a slow client catch up separately, so that the others do not wait and memory stays bounded. */
function detachStream(deps: LiveDeps, feed: LiveFeed, stream: Stream): void {
  feed.streams.delete(stream)
  catchUp(deps, feed, stream).catch(() => stream.out.destroy())
}

function advance(stream: Stream, frames: readonly Frame[], position: number): void {
  for (const frame of frames) send(stream, frame)
  stream.position = Math.max(stream.position, position)
}

async function readFrames(deps: LiveDeps, workspaceId: string, after: number) {
  const reader = { workspaceId, names: deps.names, connectionIds: [] }
  const page = await readPage(deps, reader, after, pageSize)
  const frames = await deps.keyStore.withKeyring(workspaceId, (keyring) =>
    decryptEach(keyring, page, deps.log, parsePayload).map(({ event, payload }) => {
      const shown = deps.present(event.name, payload, { keyring, masked: false })
      return createFrame(workspaceId, event.position, presentEvent({ event, payload: shown }))
    }),
  )
  return { frames, position: page.position, hasMore: page.hasMore }
}
