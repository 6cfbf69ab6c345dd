import { type KeyedStorage, privatePrefixes, privateStorage } from '../../session/private-storage.ts'
import { createPublisher } from '../parts/publisher.ts'
import type { Refusal } from './refusal.ts'

/** Unsent text of a conversation. Reply and note are separate. */
export interface Draft {
  mode: Mode
  reply: string
  note: string
}

export type Mode = 'reply' | 'note'

export const blankDraft: Draft = { mode: 'reply', reply: '', note: '' }

const prefix = privatePrefixes.draft
/** Oldest drafts are deleted first: browsers limit local storage to a few megabytes. */
const maxDrafts = 200

const storageKeyOf = (workspaceId: string, conversationId: string): string =>
  `${prefix}${workspaceId}.${conversationId}`

export function readDraft(storage: KeyedStorage, workspaceId: string, conversationId: string): Draft {
  const kept = parse(storage.getItem(storageKeyOf(workspaceId, conversationId)))
  return kept === null ? blankDraft : { mode: kept.mode, reply: kept.reply, note: kept.note }
}

/** Saves a draft, or deletes an empty one. If storage is full, the text remains only in the page. */
export function writeDraft(
  storage: KeyedStorage,
  workspaceId: string,
  conversationId: string,
  { mode, reply, note }: Draft,
  nowMs: number,
): void {
  const place = storageKeyOf(workspaceId, conversationId)
  if (reply.trim() === '' && note.trim() === '') {
    storage.removeItem(place)
    return
  }
  if (storage.getItem(place) === null) dropOldest(storage)
  try {
    storage.setItem(place, JSON.stringify({ mode, reply, note, at: nowMs }))
  } catch {
    // Saving would require deleting another draft.
  }
}

/** Puts refused text before what was typed since. */
export const restoreDraft = (text: string, typedSince: string): string =>
  typedSince.trim() === '' ? text : `${text}\n${typedSince}`

function dropOldest(storage: KeyedStorage): void {
  const places = Array.from({ length: storage.length }, (_, n) => storage.key(n) ?? '').filter((one) =>
    one.startsWith(prefix),
  )
  if (places.length < maxDrafts) return
  const byAge = places
    .map((place) => ({ place, at: parse(storage.getItem(place))?.at ?? 0 }))
    .sort((a, b) => a.at - b.at)
  for (const { place } of byAge.slice(0, places.length - maxDrafts + 1)) storage.removeItem(place)
}

function parse(text: string | null): (Draft & { at: number }) | null {
  if (text === null) return null
  try {
    const { mode, reply, note, at } = JSON.parse(text) as Record<string, unknown>
    if (typeof reply !== 'string' || typeof note !== 'string') return null
    return { mode: mode === 'note' ? 'note' : 'reply', reply, note, at: typeof at === 'number' ? at : 0 }
  } catch {
    return null
  }
}

/** In characters, counted as by the server. */
export const maxReply = 16_384
export const maxNote = 4096

/** Text being written. Read and written synchronously, so that a second click finds nothing to send. */
interface ComposeState {
  draft: Draft
  refusal: Refusal | null
  /** Being taken over: shown as ours, even if older events still arrive. */
  isTakingOver: boolean
}

const states = new Map<string, ComposeState>()
const { publish, useValue } = createPublisher()

export function composeStateOf(workspaceId: string, id: string): ComposeState {
  const place = `${workspaceId} ${id}`
  const known = states.get(place)
  if (known !== undefined) return known
  const read = { draft: readDraft(privateStorage, workspaceId, id), refusal: null, isTakingOver: false }
  states.set(place, read)
  return read
}

export function setDraft(workspaceId: string, id: string, changes: Partial<Draft>): void {
  const writing = composeStateOf(workspaceId, id)
  const next = { ...writing.draft, ...changes }
  writeDraft(privateStorage, workspaceId, id, next, Date.now())
  set(workspaceId, id, { ...writing, draft: next })
}

export function setRefusal(workspaceId: string, id: string, refusal: Refusal | null): void {
  set(workspaceId, id, { ...composeStateOf(workspaceId, id), refusal })
}

export function setTakingOver(workspaceId: string, id: string, isTakingOver: boolean): void {
  set(workspaceId, id, { ...composeStateOf(workspaceId, id), isTakingOver })
}

export function useComposeState(workspaceId: string, id: string): ComposeState {
  return useValue(() => composeStateOf(workspaceId, id))
}

function set(workspaceId: string, id: string, writing: ComposeState): void {
  states.set(`${workspaceId} ${id}`, writing)
  publish()
}

const focusRequests = new Set<string>()

/** Requests the focus after a takeover; the field takes it when it is rendered. */
export const requestFocus = (id: string): void => void focusRequests.add(id)

export const consumeFocusRequest = (id: string): boolean => focusRequests.delete(id)
