import type { Message, Reply } from '../../data/inbox/types.ts'
import { type KeyedStorage, privatePrefixes } from '../../session/private-storage.ts'

/** A message as its writer lets it go. */
export interface Outgoing {
  reply: Reply
  /** As the thread shows it. */
  text: string
  /** The newest message that the writer had seen; nothing is sent when somebody has written since. */
  ifLastMessageId: string | null
  /** The message that it answers, to be shown again if nothing is sent. */
  quoted?: Message
}

/** A message on its way, kept until the service has said what became of it. */
export interface PendingSend extends Outgoing {
  /** Its Idempotency-Key: tried again after a reload, it is sent at most once all the same. */
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
    // A full storage: the send goes on, and only a reload in this very moment would lose it.
  }
}

export const removePendingSend = (storage: KeyedStorage, workspaceId: string, key: string): void =>
  storage.removeItem(storageKeyOf(workspaceId, key))

/** What a person had on its way when the page was left, in the order of sending. */
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
 * The Idempotency-Key of a note: the same one for the same text for as long as nobody knows whether it arrived, also over a
 * reload.
 */
export function noteKeyFor(storage: KeyedStorage, workspaceId: string, conversationId: string, text: string): string {
  const place = noteStorageKeyOf(workspaceId, conversationId)
  const kept = storage.getItem(place)
  // A key has no line break; what comes after the first one is the text.
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
export const removeNoteKey = (storage: KeyedStorage, workspaceId: string, conversationId: string): void =>
  storage.removeItem(noteStorageKeyOf(workspaceId, conversationId))
