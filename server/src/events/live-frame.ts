import type { EventName } from './event-groups.ts'
import { writeFeedCursor } from './feed-cursor.ts'

/** An event as the stream carries it, made once for all who read it. */
export interface Frame {
  position: number
  name: EventName
  bytes: Buffer
}

export interface ShownEvent {
  id: string
  event: EventName
  occurred_at: string
  payload: object
}

/** JSON has no line breaks, so that an event's data is one line. */
export function frameOf(workspaceId: string, position: number, shown: ShownEvent): Frame {
  const lines = [idLine(workspaceId, position), `event: ${shown.event}`, `data: ${JSON.stringify(shown)}`, '', '']
  return { position, name: shown.event, bytes: Buffer.from(lines.join('\n')) }
}

/** News of the moment for the pages that are open: in no feed, and without an id, so that a browser's place stays. */
export const teamFrame = (name: string, data: object): Buffer =>
  Buffer.from(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`)

/** How soon a browser comes back, in milliseconds, and where it stands before the first event. */
export const startFrame = (workspaceId: string, position: number): string =>
  `retry: 2000\n${idLine(workspaceId, position)}\n\n`

/** Moves the browser's place on as well: what it may not see would count as unread otherwise. */
export const heartbeatFrame = (workspaceId: string, position: number): string =>
  `: here\n${idLine(workspaceId, position)}\n\n`

/** Tells the browser to load its page anew: the events between its place and this one are not sent. */
export const resetFrame = (workspaceId: string, position: number): string =>
  `event: reset\n${idLine(workspaceId, position)}\ndata: {}\n\n`

const idLine = (workspaceId: string, position: number) => `id: ${writeFeedCursor(workspaceId, position)}`
