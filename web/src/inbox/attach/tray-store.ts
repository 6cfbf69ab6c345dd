import { createPublisher } from '../parts/publisher.ts'
import type { Attachments } from './attachment.ts'

/** A file that was not accepted, and why. */
export interface RejectedFile {
  name: string
  reason: 'type' | 'size' | 'empty' | 'many'
  /** With `size`: largest size; with `many`: largest number. */
  limit: number
}

interface Tray {
  attachments: Attachments
  rejected: readonly RejectedFile[]
}

const empty: Tray = { attachments: [], rejected: [] }
/** By conversation, until the page is closed: file contents are stored nowhere else. */
const trays = new Map<string, Tray>()
const { publish, subscribe, useValue } = createPublisher()

const trayOf = (workspaceId: string, id: string): Tray => trays.get(`${workspaceId} ${id}`) ?? empty

export const attachmentsOf = (workspaceId: string, id: string): Attachments => trayOf(workspaceId, id).attachments

export const useTray = (workspaceId: string, id: string): Tray => useValue(() => trayOf(workspaceId, id))

/** Resolves at the next change of any conversation. */
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
  // Closing the page would lose the files: ask first.
  const isHeld = [...trays.values()].some(({ attachments }) => attachments.length > 0)
  if (isHeld) window.addEventListener('beforeunload', confirmLeave)
  else window.removeEventListener('beforeunload', confirmLeave)
  publish()
}

const confirmLeave = (event: BeforeUnloadEvent): void => event.preventDefault()
