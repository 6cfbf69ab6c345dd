import { useSyncExternalStore } from 'react'
import type { Attachments } from './attachment.ts'

/** A file that was not taken, and why. */
export interface RejectedFile {
  name: string
  reason: 'type' | 'size' | 'empty' | 'many'
  /** With `size`: what is taken at most; with `many`: how many are. */
  limit: number
}

interface Tray {
  attachments: Attachments
  rejected: readonly RejectedFile[]
}

const empty: Tray = { attachments: [], rejected: [] }
/** By conversation, for as long as the page is open: bytes are not kept anywhere else. */
const trays = new Map<string, Tray>()
const listeners = new Set<() => void>()

const trayOf = (workspaceId: string, id: string): Tray => trays.get(`${workspaceId} ${id}`) ?? empty

export const attachmentsOf = (workspaceId: string, id: string): Attachments => trayOf(workspaceId, id).attachments

export const useTray = (workspaceId: string, id: string): Tray =>
  useSyncExternalStore(subscribe, () => trayOf(workspaceId, id))

/** Resolves at the next change, of whatever conversation. */
export function nextChange(): Promise<void> {
  return new Promise((resolve) => {
    const stop = subscribe(() => {
      stop()
      resolve()
    })
  })
}

export function saveTray(workspaceId: string, id: string, changes: Partial<Tray>): void {
  const next = { ...trayOf(workspaceId, id), ...changes }
  const isEmpty = next.attachments.length === 0 && next.rejected.length === 0
  if (isEmpty) trays.delete(`${workspaceId} ${id}`)
  else trays.set(`${workspaceId} ${id}`, next)
  // A page that is closed now would lose them: it asks first.
  const isHeld = [...trays.values()].some(({ attachments }) => attachments.length > 0)
  if (isHeld) window.addEventListener('beforeunload', requestTray)
  else window.removeEventListener('beforeunload', requestTray)
  for (const listener of [...listeners]) listener()
}

const requestTray = (event: BeforeUnloadEvent): void => event.preventDefault()

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
