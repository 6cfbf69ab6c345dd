import { useSyncExternalStore } from 'react'
import type { Attachments } from './attachment.ts'

/** A file that was not taken, and why. */
export interface Refused {
  name: string
  reason: 'type' | 'size' | 'empty' | 'many'
  /** With `size`: what is taken at most; with `many`: how many are. */
  most: number
}

interface Tray {
  attachments: Attachments
  refused: readonly Refused[]
}

const empty: Tray = { attachments: [], refused: [] }
/** By conversation, for as long as the page is open: bytes are not kept anywhere else. */
const trays = new Map<string, Tray>()
const watchers = new Set<() => void>()

const trayOf = (workspaceId: string, id: string): Tray => trays.get(`${workspaceId} ${id}`) ?? empty

export const attachmentsOf = (workspaceId: string, id: string): Attachments => trayOf(workspaceId, id).attachments

export const useTray = (workspaceId: string, id: string): Tray =>
  useSyncExternalStore(watch, () => trayOf(workspaceId, id))

/** Resolves at the next change, of whatever conversation. */
export function nextChange(): Promise<void> {
  return new Promise((resolve) => {
    const stop = watch(() => {
      stop()
      resolve()
    })
  })
}

export function keepTray(workspaceId: string, id: string, changes: Partial<Tray>): void {
  const next = { ...trayOf(workspaceId, id), ...changes }
  const isEmpty = next.attachments.length === 0 && next.refused.length === 0
  if (isEmpty) trays.delete(`${workspaceId} ${id}`)
  else trays.set(`${workspaceId} ${id}`, next)
  // A page that is closed now would lose them: it asks first.
  const isHeld = [...trays.values()].some(({ attachments }) => attachments.length > 0)
  if (isHeld) window.addEventListener('beforeunload', ask)
  else window.removeEventListener('beforeunload', ask)
  for (const changed of [...watchers]) changed()
}

const ask = (event: BeforeUnloadEvent): void => event.preventDefault()

function watch(changed: () => void): () => void {
  watchers.add(changed)
  return () => watchers.delete(changed)
}
