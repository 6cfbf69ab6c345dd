import type { ServerResponse } from 'node:http'
import type { PresentedEvent } from './feed.ts'
import { writeFeedCursor } from './read-page.ts'
import type { EventName } from './record.ts'

/** A browser that follows the feed of a workspace. */
export interface Stream {
  workspaceId: string
  out: ServerResponse
  /** Null for a token. */
  userId: string | null
  sessionId: string | null
  tokenId: string | null
  names: readonly EventName[]
  /** What it may see as of now; null once that is nothing. */
  readNames(): Promise<readonly EventName[] | null>
  /** How far it has been sent. */
  position: number
  /** Whether bytes were waiting at the last heartbeat, and have been waiting since. */
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

/** What may wait in memory for one client, beside one page. */
export const maxWaitingBytes = 1024 * 1024

/** A client that lets this much wait would get old news for new ones: it comes back, and loads its page anew. */
export function sendBytes({ out }: Stream, bytes: Buffer): void {
  if (out.writableLength > maxWaitingBytes) out.destroy()
  else out.write(bytes)
}

/** Resolves when the client has taken what was waiting for it, or is gone. */
export function drained(stream: Stream): Promise<void> {
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

/** Keeps proxies from ending a silent connection, and ends one whose client has taken nothing since the last time. */
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

/** Ends the streams whose sessions, tokens or memberships have ended; others go on with what they may see now. */
export async function checkStreams(streams: Iterable<Stream>, onError: (error: unknown) => void): Promise<void> {
  for (const stream of streams) {
    // What cannot be asked of one now is asked at the next round, and keeps nobody else from being looked at.
    await checkStream(stream).catch(onError)
  }
}

async function checkStream(stream: Stream): Promise<void> {
  const names = await stream.readNames()
  if (!isOpen(stream)) return
  if (names !== null) stream.names = names
  else destroyStream(stream)
}

/** Lets nothing more go out. An end would wait for what the client may see no more, for as long as it does not read. */
export function destroyStream({ out }: Stream): void {
  if (out.writableLength > 0) out.destroy()
  else out.end()
}

/** An event as the stream carries it, made once for all who read it. */
export interface Frame {
  position: number
  name: EventName
  bytes: Buffer
}

/** JSON has no line breaks, so that an event's data is one line. */
export function createFrame(workspaceId: string, position: number, event: PresentedEvent): Frame {
  const lines = [idLine(workspaceId, position), `event: ${event.event}`, `data: ${JSON.stringify(event)}`, '', '']
  return { position, name: event.event, bytes: Buffer.from(lines.join('\n')) }
}

/** News of the moment for the pages that are open: in no feed, and without an id, so that a browser's place stays. */
export const liveUpdateFrame = (name: string, data: object): Buffer =>
  Buffer.from(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`)

/** How soon a browser comes back, in milliseconds, and where it stands before the first event. */
export const startFrame = (workspaceId: string, position: number): string =>
  `retry: 2000\n${idLine(workspaceId, position)}\n\n`

/** Moves the browser's place on as well: what it may not see would count as unread otherwise. */
const heartbeatFrame = (workspaceId: string, position: number): string => `: here\n${idLine(workspaceId, position)}\n\n`

/** Tells the browser to load its page anew: the events between its place and this one are not sent. */
export const resetFrame = (workspaceId: string, position: number): string =>
  `event: reset\n${idLine(workspaceId, position)}\ndata: {}\n\n`

const idLine = (workspaceId: string, position: number) => `id: ${writeFeedCursor(workspaceId, position)}`
