import { type KeyedStorage, privatePrefixes } from '../../session/private-storage.ts'

const placeOf = (workspaceId: string, conversationId: string): string =>
  `${privatePrefixes.noting}${workspaceId}.${conversationId}`

/**
 * The Idempotency-Key of a note: the same one for the same text for as long as nobody knows whether it arrived, also over a
 * reload.
 */
export function noteKeyFor(storage: KeyedStorage, workspaceId: string, conversationId: string, text: string): string {
  const place = placeOf(workspaceId, conversationId)
  const kept = storage.getItem(place)
  // A key has no line break; what stands behind the first one is the text.
  const at = kept?.indexOf('\n') ?? -1
  if (kept !== null && at > 0 && kept.slice(at + 1) === text) return kept.slice(0, at)
  const key = crypto.randomUUID()
  try {
    storage.setItem(place, `${key}\n${text}`)
  } catch {
    // A full storage: only a reload in this very moment would lose it.
  }
  return key
}

/** The service has answered: what is written next is another note. */
export const dropNoteKey = (storage: KeyedStorage, workspaceId: string, conversationId: string): void =>
  storage.removeItem(placeOf(workspaceId, conversationId))
