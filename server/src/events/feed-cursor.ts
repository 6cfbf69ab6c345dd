import { decodeCursor, encodeCursor } from '../base/cursor.ts'

/** A place in the feed of one workspace, as callers hold it. It belongs to no filter. */
export function writeFeedCursor(workspaceId: string, position: number): string {
  return encodeCursor(['events', workspaceId, position])
}

/** Null for what is no cursor of this workspace. */
export function readFeedCursor(workspaceId: string, text: string): number | null {
  const [kind, owner, position, ...more] = decodeCursor(text) ?? []
  const isOurs = kind === 'events' && owner === workspaceId && more.length === 0
  return isOurs && typeof position === 'number' && Number.isSafeInteger(position) && position >= 0 ? position : null
}
