import type { Message, Reply } from '../../data/inbox/types.ts'
import { type KeyedStorage, privatePrefixes } from '../../session/private-storage.ts'

/** A message as submitted. */
export interface OutgoingMessage {
  reply: Reply
  /** Text as shown in the thread. */
  text: string
  /** Newest message that the writer had seen; nothing is sent if there is a newer one. */
  ifLastMessageId: string | null
  /** Whether the writer sends it although a budget is used up. */
  isOverBudget?: boolean
  /** Quoted message, restored if nothing is sent. */
  quoted?: Message
}

/** A message that is being sent, stored until the server responds. */
export interface PendingSend extends OutgoingMessage {
  /** Idempotency key, kept across reloads so that it is sent at most once. */
  key: string
  userId: string
  conversationId: string
  atMs: number
}

const prefix = privatePrefixes.sending
const storageKeyOf = (workspaceId: string, key: string): string => `${prefix}${workspaceId}.${key}`

export function savePendingSend(storage: KeyedStorage, workspaceId: string, send: PendingSend): void {
  try {
    storage.setItem(storageKeyOf(workspaceId, send.key), JSON.stringify(send))
  } catch {
    // Storage is full: the send continues, and only a reload at this moment would lose it.
  }
}

export const removePendingSend = (storage: KeyedStorage, workspaceId: string, key: string): void =>
  storage.removeItem(storageKeyOf(workspaceId, key))

/** Returns the sends of a person that were under way when the page was closed, in order. */
export function pendingSends(storage: KeyedStorage, workspaceId: string, userId: string): PendingSend[] {
  return Array.from({ length: storage.length }, (_, n) => storage.key(n) ?? '')
    .filter((place) => place.startsWith(`${prefix}${workspaceId}.`))
    .flatMap((place) => parse(storage.getItem(place)))
    .filter((send) => send.userId === userId)
    .sort((a, b) => a.atMs - b.atMs)
}

function parse(text: string | null): PendingSend[] {
  try {
    const send = JSON.parse(text ?? 'null') as Partial<PendingSend> | null
    const isValid = typeof send?.key === 'string' && typeof send.text === 'string' && send.reply !== undefined
    return isValid ? [send as PendingSend] : []
  } catch {
    return []
  }
}

const noteStorageKeyOf = (workspaceId: string, conversationId: string): string =>
  `${privatePrefixes.noting}${workspaceId}.${conversationId}`

/**
 * Returns the idempotency key of a note, which is the same for the same text until the server has responded, also after
 * a reload.
 */
export function noteKeyFor(storage: KeyedStorage, workspaceId: string, conversationId: string, text: string): string {
  const place = noteStorageKeyOf(workspaceId, conversationId)
  const kept = storage.getItem(place)
  // Keys contain no line break: the text starts after the first one.
  const at = kept?.indexOf('\n') ?? -1
  if (kept !== null && at > 0 && kept.slice(at + 1) === text) return kept.slice(0, at)
  const key = crypto.randomUUID()
  try {
    storage.setItem(place, `${key}\n${text}`)
  } catch {
    // Storage is full: only a reload at this moment would lose the key.
  }
  return key
}

/** Removes the key once the server has responded: the next note needs a new one. */
export const removeNoteKey = (storage: KeyedStorage, workspaceId: string, conversationId: string): void =>
  storage.removeItem(noteStorageKeyOf(workspaceId, conversationId))
