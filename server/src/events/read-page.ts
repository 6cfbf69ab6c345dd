import { decodeCursor, encodeCursor } from '../base/cursor.ts'
import type { Sql } from '../base/db.ts'
import { gone } from '../base/errors.ts'
import { feedState, type PageState, readFeed, readFeedState, type SequencedEvent } from './feed.ts'
import type { EventName } from './record.ts'
import type { Sequencer } from './sequence.ts'

/** The part of a workspace's feed that a reader may see. */
export interface FeedReader {
  workspaceId: string
  names: readonly EventName[]
  /** Connections whose events it sees; empty: all. */
  connectionIds: readonly string[]
}

/** A position, or the start (oldest kept event) or end of the feed. */
export type FeedStart = number | 'oldest' | 'latest'

export interface FeedPage {
  events: SequencedEvent[]
  /** Next position to read after; skips events that the reader cannot see, so that it never scans them again. */
  position: number
  /** Last position of the feed. */
  last: number
  hasMore: boolean
}

export interface FeedDeps {
  db: { sql: Sql }
  sequencer: Sequencer
}

/** Positions per scan, and scans per page for a reader who sees few of the events. */
const scanSize = 10_000
const maxScans = 5

/** Reads the next events. Includes all events that were committed before the call, even if not sequenced yet. */
export async function readPage(
  { db, sequencer }: FeedDeps,
  reader: FeedReader,
  start: FeedStart,
  limit: number,
): Promise<FeedPage> {
  const { workspaceId } = reader
  const filter = { ...reader, limit: limit + 1 }
  const after = typeof start === 'number' ? start : null
  // From `latest`, no existing events are read.
  const first = { after, stretch: start === 'latest' ? 0 : scanSize }
  let { state, events: found } = await readFeedState(db.sql, workspaceId, first, filter)
  // A full page needs no newer events, so nothing is sequenced for it.
  if (state.unplaced && state.last - positionOf(start, state) < limit) {
    await sequencer.sequence(workspaceId)
    const again = await readFeedState(db.sql, workspaceId, first, filter)
    state = { ...again.state, unplaced: false }
    found = again.events
  }
  let position = positionOf(start, state)
  for (let count = 0; position < state.last && count < maxScans; count++) {
    const upTo = Math.min(position + scanSize, state.last)
    if (count > 0) found = await readFeed(db.sql, workspaceId, { after: position, upTo }, filter)
    const events = found.slice(0, limit)
    if (found.length > limit) {
      return { events, position: events.at(-1)?.position ?? position, last: state.last, hasMore: true }
    }
    position = upTo
    if (events.length > 0) return { events, ...(await lastPage(db.sql, workspaceId, state, position)) }
  }
  return { events: [], ...(await lastPage(db.sql, workspaceId, state, position)) }
}

async function lastPage(sql: Sql, workspaceId: string, { last, unplaced }: PageState, position: number) {
  // A page can end at the last position while committed events are still unsequenced.
  const hasMore = position < last || (unplaced ?? (await feedState(sql, workspaceId)).unplaced)
  return { position, last, hasMore }
}

function positionOf(start: FeedStart, { last, removedTo }: PageState): number {
  if (start === 'oldest') return removedTo
  if (start === 'latest') return last
  if (start < removedTo) {
    throw gone('Events after this cursor were removed. Start over without `after`, or with `after=latest`.', {
      code: 'CURSOR_EXPIRED',
    })
  }
  // Possible only if the database was restored from an older backup.
  if (start > last) {
    throw gone('This cursor is beyond the end of the feed. Start over without `after`, or with `after=latest`.', {
      code: 'CURSOR_EXPIRED',
    })
  }
  return start
}

/** Encodes a feed position of a workspace as an opaque cursor. */
export function writeFeedCursor(workspaceId: string, position: number): string {
  return encodeCursor(['events', workspaceId, position])
}

/** Returns null if the text is not a cursor of this workspace. */
export function parseFeedCursor(workspaceId: string, text: string): number | null {
  const [kind, owner, position, ...more] = decodeCursor(text) ?? []
  const isOurs = kind === 'events' && owner === workspaceId && more.length === 0
  return isOurs && typeof position === 'number' && Number.isSafeInteger(position) && position >= 0 ? position : null
}
