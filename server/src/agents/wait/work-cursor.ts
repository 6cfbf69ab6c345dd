import { decodeCursor, encodeCursor } from '../../base/cursor.ts'
import { isUuid } from '../../base/id.ts'

/** How much of its work a key was told of. */
export interface WorkCursor {
  /** Of the workspace's feed: whatever came to the key up to here it was told of, but for what `waiting` still leaves. */
  position: number
  /** While those who waited before the key first asked are told of, oldest first: the last of them. */
  waiting: Waiting | null
}

export interface Waiting {
  since: Date
  id: string
}

const kind = 'work'

export function writeWorkCursor(keyId: string, { position, waiting }: WorkCursor): string {
  const rest = waiting === null ? [] : [waiting.since.getTime(), waiting.id]
  return encodeCursor([kind, keyId, position, ...rest])
}

/** Null for what is no cursor of this key. */
export function readWorkCursor(keyId: string, text: string): WorkCursor | null {
  const [of, owner, position, since, id, ...more] = decodeCursor(text) ?? []
  if (of !== kind || owner !== keyId || !isWhole(position) || more.length > 0) return null
  if (since === undefined) return { position, waiting: null }
  if (!isWhole(since) || since > latestTime || typeof id !== 'string' || !isUuid(id)) return null
  return { position, waiting: { since: new Date(since), id } }
}

// What PostgreSQL and Date both can hold.
const latestTime = 253_402_300_799_999
const isWhole = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0
