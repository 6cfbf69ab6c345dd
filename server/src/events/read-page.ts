import { decodeCursor, encodeCursor } from '../base/cursor.ts'
import type { Sql } from '../base/db.ts'
import { gone } from '../base/errors.ts'
import { feedState, type PageState, readFeed, readFeedState, type SequencedEvent } from './feed.ts'
import type { EventName } from './record.ts'
import type { Sequencer } from './sequence.ts'

/** What a reader may see of a workspace's feed. */
export interface FeedReader {
  workspaceId: string
  names: readonly EventName[]
  /** Connections whose events it sees; none: all. */
  connectionIds: readonly string[]
}

/** A place, or one that only the feed knows: before the oldest event that is kept, or after the newest. */
export type FeedStart = number | 'oldest' | 'latest'

export interface FeedPage {
  events: SequencedEvent[]
  /** Where to go on: also past events that the reader does not see, so that it never looks at them again. */
  position: number
  /** How far the feed reached. */
  last: number
  hasMore: boolean
}

export interface FeedDeps {
  db: { sql: Sql }
  sequencer: Sequencer
}

/** Places that one statement looks at, and how many such statements a page may take for a reader who sees few of them. */
const scanSize = 10_000
const maxScans = 5

/** The next events of a reader. It sees what was committed before the call, whether or not anybody has placed it. */
export async function readPage(
  { db, sequencer }: FeedDeps,
  reader: FeedReader,
  start: FeedStart,
  limit: number,
): Promise<FeedPage> {
  const { workspaceId } = reader
  const filter = { ...reader, limit: limit + 1 }
  const after = typeof start === 'number' ? start : null
  // Whoever wants what is to come wants nothing of what is there.
  const first = { after, stretch: start === 'latest' ? 0 : scanSize }
  let { state, events: found } = await readFeedState(db.sql, workspaceId, first, filter)
  // A page that will be full needs nothing newer.
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
  // Who sees few of the events comes to the end from further back than a page.
  const hasMore = position < last || (unplaced ?? (await feedState(sql, workspaceId)).unplaced)
  return { position, last, hasMore }
}

function positionOf(start: FeedStart, { last, removedTo }: PageState): number {
  if (start === 'oldest') return removedTo
  if (start === 'latest') return last
  if (start < removedTo) {
    throw gone('Events behind this cursor are no longer kept. Start without `after`, or with `after=latest`.', {
      code: 'CURSOR_EXPIRED',
    })
  }
  // Only a database that was restored from an older dump has given fewer places than a cursor remembers.
  if (start > last) {
    throw gone('The feed does not reach this cursor any more. Start without `after`, or with `after=latest`.', {
      code: 'CURSOR_EXPIRED',
    })
  }
  return start
}

/** A place in the feed of one workspace, as callers hold it. It belongs to no filter. */
export function writeFeedCursor(workspaceId: string, position: number): string {
  return encodeCursor(['events', workspaceId, position])
}

/** Null for what is no cursor of this workspace. */
export function parseFeedCursor(workspaceId: string, text: string): number | null {
  const [kind, owner, position, ...more] = decodeCursor(text) ?? []
  const isOurs = kind === 'events' && owner === workspaceId && more.length === 0
  return isOurs && typeof position === 'number' && Number.isSafeInteger(position) && position >= 0 ? position : null
}
