import { useSyncExternalStore } from 'react'
import { privateStorage } from '../../session/private-storage.ts'
import { type Draft, readDraft, writeDraft } from './drafts.ts'
import type { Refusal } from './refusal.ts'

/** What is being written in a conversation. Read and written at once, so that a second click finds nothing to send. */
interface Writing {
  draft: Draft
  refusal: Refusal | null
  /** Being taken over: it is ours for the eye, whatever older news of it still comes in. */
  isTaking: boolean
}

const writings = new Map<string, Writing>()
const watchers = new Set<() => void>()

export function writingOf(workspaceId: string, id: string): Writing {
  const place = `${workspaceId} ${id}`
  const known = writings.get(place)
  if (known !== undefined) return known
  const read = { draft: readDraft(privateStorage, workspaceId, id), refusal: null, isTaking: false }
  writings.set(place, read)
  return read
}

export function setDraft(workspaceId: string, id: string, changes: Partial<Draft>): void {
  const writing = writingOf(workspaceId, id)
  const next = { ...writing.draft, ...changes }
  writeDraft(privateStorage, workspaceId, id, next, Date.now())
  set(workspaceId, id, { ...writing, draft: next })
}

export function setRefusal(workspaceId: string, id: string, refusal: Refusal | null): void {
  set(workspaceId, id, { ...writingOf(workspaceId, id), refusal })
}

export function setTaking(workspaceId: string, id: string, isTaking: boolean): void {
  set(workspaceId, id, { ...writingOf(workspaceId, id), isTaking })
}

export function useWriting(workspaceId: string, id: string): Writing {
  return useSyncExternalStore(watch, () => writingOf(workspaceId, id))
}

function set(workspaceId: string, id: string, writing: Writing): void {
  writings.set(`${workspaceId} ${id}`, writing)
  for (const changed of watchers) changed()
}

function watch(changed: () => void): () => void {
  watchers.add(changed)
  return () => watchers.delete(changed)
}

const focusAsked = new Set<string>()

/** Whoever takes a conversation over wants to write in it: the field takes the caret once it is there. */
export const askFocus = (id: string): void => void focusAsked.add(id)

export const takeFocusAsk = (id: string): boolean => focusAsked.delete(id)
