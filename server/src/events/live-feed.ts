import type { KeyStore } from '../base/encryption/key-store.ts'
import type { Log } from '../base/log.ts'
import { decryptEvents, type PresentPayload, presentEvent } from './feed.ts'
import { createFrame, type Frame, isOpen, maxWaitingBytes, type Stream, send, waitForDrain } from './live-stream.ts'
import { type FeedDeps, readPage } from './read-page.ts'
import type { EventName } from './record.ts'

export interface LiveFeedDeps extends FeedDeps {
  keyStore: KeyStore
  log: Log
  present: PresentPayload
  /** Names of all events. */
  names: readonly EventName[]
}

/** A followed workspace: one read serves all its streams. */
export interface LiveFeed {
  workspaceId: string
  position: number
  /** Streams that have caught up with `position`. */
  streams: Set<Stream>
}

const pageSize = 200
/** Events that a stream can be behind; beyond, the browser reloads its page. */
export const maxBehind = 5_000

/** Sends new events to all streams that have caught up. Must not run concurrently for one feed. */
export async function broadcast(deps: LiveFeedDeps, feed: LiveFeed): Promise<void> {
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
export async function catchUp(deps: LiveFeedDeps, feed: LiveFeed, stream: Stream): Promise<void> {
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
function detachStream(deps: LiveFeedDeps, feed: LiveFeed, stream: Stream): void {
  feed.streams.delete(stream)
  catchUp(deps, feed, stream).catch(() => stream.out.destroy())
}

function advance(stream: Stream, frames: readonly Frame[], position: number): void {
  for (const frame of frames) send(stream, frame)
  stream.position = Math.max(stream.position, position)
}

async function readFrames(deps: LiveFeedDeps, workspaceId: string, after: number) {
  const reader = { workspaceId, names: deps.names, connectionIds: [] }
  const page = await readPage(deps, reader, after, pageSize)
  const frames = await deps.keyStore.withKeyring(workspaceId, (keyring) =>
    decryptEvents(keyring, page, deps.log).map(({ event, payload }) => {
      const shown = deps.present(event.name, payload, { keyring, masked: false })
      return createFrame(workspaceId, event.position, presentEvent({ event, payload: shown }))
    }),
  )
  return { frames, position: page.position, hasMore: page.hasMore }
}
