import { decodeCursor, encodeCursor } from '../../base/cursor.ts'
import { isUuid } from '../../base/id.ts'

/** Events that create work for the owner of the conversation. */
export const workEvents = [
  'inbox.message.received',
  'inbox.conversation.owner_changed',
  'inbox.conversation.standby_changed',
  'inbox.draft.decided',
  'inbox.scheduled_message.failed',
] as const

/** How much of its work a key has received. */
export interface WorkCursor {
  /** Feed position up to which all work was reported, except what `held` and `waiting` leave. */
  position: number
  /**
   * Ascending positions up to `position`: the newest event of each conversation that is not reported yet, because its
   * customer was still writing. So one who writes on and on delays nobody else.
   */
  held: readonly number[]
  /** Last reported item while work that was pending at the first call is reported, longest waiting first; then null. */
  waiting: WaitingPosition | null
  /** Publications of instructions that the key knew of when it got the cursor; absent: 0. */
  instructions?: number
}

export interface WaitingPosition {
  since: Date
  id: string
}

/** Conversations that a cursor can carry; it has at most 1,000 characters. Further ones wait until one of these is due. */
export const maxHeld = 100

/** A conversation of the next work, in the order of the work. */
export interface Candidate {
  id: string
  /** Its number in this order, with gaps for those that are not in the same list. */
  nth: number
  /** Position of its newest event; null for work that was pending at the first call. */
  place: number | null
  since: string | null
}

/** A conversation whose customer is still writing. */
export interface HeldCandidate extends Candidate {
  /** Position of its newest event, even if it was pending at the first call. */
  event_place: number
  /** When it becomes work if the customer writes no more. */
  until: string
}

export interface Candidates<D extends Candidate> {
  due: readonly D[]
  held: readonly HeldCandidate[]
}

/** The last position of the feed, and up to where the work was read. */
interface FeedEnd {
  last: number
  reach: number
}

interface NextWork<D> {
  reported: D[]
  cursor: WorkCursor
  /** More work is available now. */
  hasMore: boolean
}

/** Returns which of the candidates to report, at most `limit`, and the cursor after them. */
export function nextWork<D extends Candidate>(
  from: WorkCursor | null,
  { last, reach }: FeedEnd,
  { due, held }: Candidates<D>,
  limit: number,
): NextWork<D> {
  const full = held[maxHeld]
  const allowed = full === undefined ? due : due.filter(({ nth }) => nth < full.nth)
  const reported = allowed.slice(0, limit)
  const newest = reported.at(-1)
  const hasMore = allowed.length > limit
  if (hasMore && from !== null && newest !== undefined && isCarried(from, newest)) {
    const places = new Set(reported.map(({ place }) => place))
    return { reported, hasMore, cursor: { ...from, held: from.held.filter((place) => !places.has(place)) } }
  }
  const end = hasMore && newest !== undefined ? newest.nth : (full?.nth ?? Number.POSITIVE_INFINITY) - 1
  const left = held.filter(({ nth }) => nth <= end)
  const places = left.map((one) => one.event_place).sort((a, b) => a - b)
  if (from !== null && from.waiting === null) {
    const readTo = full === undefined ? reach : Math.max(from.position, full.event_place - 1)
    const position = hasMore ? (newest?.place ?? readTo) : readTo
    const isBehind = full === undefined && reach < last
    return { reported, hasMore: hasMore || isBehind, cursor: { position, held: places, waiting: null } }
  }
  // First the rest of the work that was pending at the first call, then events since that call.
  const position = from?.position ?? last
  const lastRead = hasMore ? newest : full === undefined ? undefined : lastOf(newest, left.at(-1))
  const waiting = lastRead === undefined ? null : (positionOf(lastRead) ?? from?.waiting ?? null)
  const isBehind = full === undefined && position < last
  return { reported, hasMore: hasMore || isBehind, cursor: { position, held: places, waiting } }
}

/** Returns whether the cursor carried the conversation, and it has no event since. */
const isCarried = ({ position }: WorkCursor, { place }: Candidate): boolean => place !== null && place <= position

const lastOf = (a: Candidate | undefined, b: Candidate | undefined): Candidate | undefined =>
  a === undefined || (b !== undefined && b.nth > a.nth) ? b : a

const positionOf = ({ since, id, place }: Candidate): WaitingPosition | null =>
  since === null || place !== null ? null : { since: new Date(since), id }

const kind = 'work'

export function writeWorkCursor(keyId: string, { position, held, waiting, instructions = 0 }: WorkCursor): string {
  const known = instructions === 0 ? [] : [`v:${instructions}`]
  const rest = waiting === null ? [] : [waiting.since.getTime(), waiting.id]
  const carried = held.length === 0 ? [] : [writeHeld(position, held)]
  return encodeCursor([kind, keyId, position, ...known, ...rest, ...carried])
}

/** Returns null if the text is not a cursor of this key. */
export function parseWorkCursor(keyId: string, text: string): WorkCursor | null {
  const [of, owner, position, ...rest] = decodeCursor(text) ?? []
  if (of !== kind || owner !== keyId || !isWhole(position)) return null
  const [, known] = /^v:(\d{1,10})$/.exec(String(rest[0])) ?? []
  if (known !== undefined) rest.shift()
  const instructions = known === undefined ? {} : { instructions: Number(known) }
  const held = rest.length % 2 === 0 ? [] : parseHeld(position, rest.pop())
  if (held === null) return null
  const [since, id, ...more] = rest
  if (more.length > 0) return null
  if (since === undefined) return { position, held, waiting: null, ...instructions }
  if (!isWhole(since) || since > latestTime || typeof id !== 'string' || !isUuid(id)) return null
  return { position, held, waiting: { since: new Date(since), id }, ...instructions }
}

// Short, because the held events are among the newest: the distances from one to the next, back from the position.
function writeHeld(position: number, held: readonly number[]): string {
  return held
    .toReversed()
    .map((place, n, all) => ((all[n - 1] ?? position) - place).toString(36))
    .join('.')
}

const heldShape = /^[0-9a-z]{1,10}(\.[0-9a-z]{1,10}){0,99}$/

function parseHeld(position: number, text: unknown): number[] | null {
  if (typeof text !== 'string' || text.length > 1000 || !heldShape.test(text)) return null
  let place = position
  const places = text.split('.').map((distance) => {
    place -= Number.parseInt(distance, 36)
    return place
  })
  return place < 0 ? null : places.reverse()
}

// Latest time that both PostgreSQL and Date can represent: end of the year 9999.
const latestTime = 253_402_300_799_999
const isWhole = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0
