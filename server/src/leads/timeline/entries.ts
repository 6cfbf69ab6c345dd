import { firstIdAt, timeOfId } from '../../base/id.ts'
import type { Actor } from '../../workspaces/actor.ts'
import type { FieldChange } from '../lead/events.ts'

export const entryKinds = [
  'message',
  'note',
  'status',
  'fields',
  'created',
  'deleted',
  'restored',
  'merged',
  'submission',
  'task',
] as const
export type EntryKind = (typeof entryKinds)[number]

/** Entry of a lead's timeline. Fields that a kind does not use are absent. */
export interface TimelineEntry {
  id: string
  /** Position in time; ids break ties. */
  at: Date
  kind: EntryKind
  /** Null for actions of customers, and if unknown. */
  actor: Actor | null
  /** Operation that a change belongs to, such as `import:<id>`. */
  partOf?: string | null
  changes?: readonly FieldChange[]
  text?: string
  conversationId?: string
  message?: TimelineMessage
  form?: { id: string; name: string }
  answers?: readonly { label: string; value: string | boolean }[]
  merge?: TimelineMerge
  task?: { dueAt: Date; doneAt: Date | null }
}

/** Message data in the timeline, besides its text. */
export interface TimelineMessage {
  connectionId: string
  direction: 'inbound' | 'outbound'
  kind: string
  /** Kind of the attached file. */
  file: string | null
  status: string
}

/** Merge into the lead, and whether it was undone. */
export interface TimelineMerge {
  otherId: string
  /** Null for a purged or erased lead. */
  otherName: string | null
  /** Null if it can no longer be undone. */
  undoUntil: Date | null
  undone: { at: Date; actor: Actor | null } | null
}

export interface Position {
  at: Date
  id: string
}

/** Slice of the timeline: the newest entries before a position, or the newest of all. */
export interface TimelineSlice {
  before: Position | null
  limit: number
}

/** Filters of the timeline, with the kinds of entries that they show. */
export const timelineFilters = {
  messages: ['message'],
  notes: ['note'],
  changes: ['status', 'fields', 'created', 'deleted', 'restored', 'merged', 'submission'],
  tasks: ['task'],
  merges: ['merged'],
} as const satisfies Record<string, readonly EntryKind[]>
export type TimelineFilter = keyof typeof timelineFilters

/** Compares entries, newest first. */
export const newestFirst = (a: Position, b: Position): number =>
  b.at.getTime() - a.at.getTime() || (a.id < b.id ? 1 : a.id > b.id ? -1 : 0)

/** Returns the position of an entry that is ordered by its id, which starts with a timestamp. */
export const positionOfId = (id: string): Position => ({ id, at: timeOfId(id) })

/** Returns the id below which all rows ordered by id are before the position; null if there is no position. */
export function idBefore(position: Position | null): string | null {
  if (position === null) return null
  const [low, high] = [firstIdAt(position.at), firstIdAt(new Date(position.at.getTime() + 1))]
  return position.id < low ? low : position.id > high ? high : position.id
}
