import type { ServerResponse } from 'node:http'
import type { PresentedEvent } from './feed.ts'
import { writeFeedCursor } from './read-page.ts'
import type { EventName } from './record.ts'

/** A browser's connection to the feed of a workspace. */
export interface Stream {
  workspaceId: string
  out: ServerResponse
  /** Null for a team token. */
  userId: string | null
  sessionId: string | null
  tokenId: string | null
  names: readonly EventName[]
  /** Returns the names of events that it may receive now; null if none. */
  readNames(): Promise<readonly EventName[] | null>
  /** Position up to which events were sent. */
  position: number
  /** Whether bytes were waiting at the last heartbeat and since then. */
  wasFull: boolean
}

export function isOpen({ out }: Stream): boolean {
  return !out.destroyed && !out.writableEnded
}

export function send(stream: Stream, frame: Frame): void {
  if (frame.position <= stream.position || !isOpen(stream)) return
  stream.position = frame.position
  if (!stream.names.includes(frame.name)) return
  stream.out.write(frame.bytes)
}

/** Bytes that can wait in memory for one client, in addition to one page. */
export const maxWaitingBytes = 1024 * 1024

/** Disconnects a client with too many waiting bytes: its updates would be outdated. It reconnects and reloads. */
export function sendBytes({ out }: Stream, bytes: Buffer): void {
  if (out.writableLength > maxWaitingBytes) out.destroy()
  else out.write(bytes)
}

/** Resolves when the client has received all waiting bytes or has disconnected. */
export function waitForDrain(stream: Stream): Promise<void> {
  const { out } = stream
  return new Promise((resolve) => {
    const done = () => {
      out.off('drain', done)
      out.off('close', done)
      stream.wasFull = false
      resolve()
    }
    out.once('drain', done)
    out.once('close', done)
  })
}

/** Keeps proxies from closing an idle connection; disconnects a client that has read nothing since the last one. */
export function sendHeartbeat(stream: Stream): void {
  if (!isOpen(stream)) return
  const isFull = stream.out.writableLength > 0
  if (isFull && stream.wasFull) {
    stream.out.destroy()
    return
  }
  stream.wasFull = isFull
  stream.out.write(heartbeatFrame(stream.workspaceId, stream.position))
}

/** Ends streams whose session, token or membership has ended; updates the permissions of the others. */
export async function checkStreams(streams: Iterable<Stream>, onError: (error: unknown) => void): Promise<void> {
  for (const stream of streams) {
    // A failed check is repeated in the next round and does not affect other streams.
    await checkStream(stream).catch(onError)
  }
}

async function checkStream(stream: Stream): Promise<void> {
  const names = await stream.readNames()
  if (!isOpen(stream)) return
  if (names !== null) stream.names = names
  else destroyStream(stream)
}

/** Closes a stream at once. A graceful end would still deliver waiting data that the client may no longer see. */
export function destroyStream({ out }: Stream): void {
  if (out.writableLength > 0) out.destroy()
  else out.end()
}

/** A serialized event, shared by all streams. */
export interface Frame {
  position: number
  name: EventName
  bytes: Buffer
}

/** JSON has no line breaks, so the data fits in one line. */
export function createFrame(workspaceId: string, position: number, event: PresentedEvent): Frame {
  const lines = [idLine(workspaceId, position), `event: ${event.event}`, `data: ${JSON.stringify(event)}`, '', '']
  return { position, name: event.event, bytes: Buffer.from(lines.join('\n')) }
}

/** Serializes a live-only update. Has no id, so that the browser's cursor stays. */
export const liveUpdateFrame = (name: string, data: object): Buffer =>
  Buffer.from(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`)

/** Sets the reconnection delay in milliseconds, and the browser's first cursor. */
export const startFrame = (workspaceId: string, position: number): string =>
  `retry: 2000\n${idLine(workspaceId, position)}\n\n`

/** Also advances the browser's cursor past events that it may not see; they would count as unread otherwise. */
const heartbeatFrame = (workspaceId: string, position: number): string => `: here\n${idLine(workspaceId, position)}\n\n`

/** Tells the browser to reload its page: events between its cursor and this one are skipped. */
export const resetFrame = (workspaceId: string, position: number): string =>
  `event: reset\n${idLine(workspaceId, position)}\ndata: {}\n\n`

const idLine = (workspaceId: string, position: number) => `id: ${writeFeedCursor(workspaceId, position)}`
