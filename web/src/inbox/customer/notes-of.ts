import type { Note, TimelineItem } from '../../data/inbox/types.ts'

/** A conversation's notes, newest first: those that were read with it, and those that the thread has heard of since. */
export function notesOf(read: readonly Note[], items: readonly TimelineItem[]): Note[] {
  const all = new Map(read.map((note) => [note.id, note]))
  for (const { note } of items) if (note !== undefined) all.set(note.id, note)
  return [...all.values()].sort((a, b) => (a.createdAt < b.createdAt ? 1 : -1))
}
