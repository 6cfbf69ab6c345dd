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
] as const
export type EntryKind = (typeof entryKinds)[number]

/** One line of a lead's timeline. What a kind has no use for is absent. */
export interface TimelineEntry {
  id: string
  /** Its place in time; ids break ties. */
  at: Date
  kind: EntryKind
  /** Null for what a customer did, and where nobody knows. */
  actor: Actor | null
  /** What a change was part of, as `import:<id>`. */
  partOf?: string | null
  changes?: readonly FieldChange[]
  text?: string
  conversationId?: string
  message?: ToldMessage
  form?: { id: string; name: string }
  answers?: readonly { label: string; value: string | boolean }[]
  merge?: ToldMerge
}

/** What is told of a message beside its text. */
export interface ToldMessage {
  connectionId: string
  direction: 'inbound' | 'outbound'
  kind: string
  /** The kind of its file. */
  file: string | null
  status: string
}

/** Who was merged into the lead, and whether that stands. */
export interface ToldMerge {
  otherId: string
  /** Null for a lead that is gone. */
  otherName: string | null
  /** Null when it can be undone no more. */
  undoUntil: Date | null
  undone: { at: Date; actor: Actor | null } | null
}

export interface Position {
  at: Date
  id: string
}

/** The newest entries before a position; without one the newest of all. */
export interface Stretch {
  before: Position | null
  limit: number
}

/** Where each kind stands when it is looked for; the filter of the timeline. */
export const timelineFilters = {
  messages: ['message'],
  notes: ['note'],
  changes: ['status', 'fields', 'created', 'deleted', 'restored', 'merged', 'submission'],
  merges: ['merged'],
} as const satisfies Record<string, readonly EntryKind[]>
export type TimelineFilter = keyof typeof timelineFilters

/** Newest first. */
export const newestFirst = (a: Position, b: Position): number =>
  b.at.getTime() - a.at.getTime() || (a.id < b.id ? 1 : a.id > b.id ? -1 : 0)

/** The place of what is ordered by its id, which begins with a time. */
export const placeOfId = (id: string): Position => ({ id, at: timeOfId(id) })

/** The id below which everything that is ordered by its id lies before the position; null: everything does. */
export function idBefore(position: Position | null): string | null {
  if (position === null) return null
  const [low, high] = [firstIdAt(position.at), firstIdAt(new Date(position.at.getTime() + 1))]
  return position.id < low ? low : position.id > high ? high : position.id
}
