import { useSyncExternalStore } from 'react'
import { dropUpload, uploadFile } from '../../data/inbox/uploads.ts'
import { type Attachment, type Attachments, type Change, changed, nextUploads } from './attachments.ts'

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
const stops = new Map<string, AbortController>()

const trayOf = (workspaceId: string, id: string): Tray => trays.get(`${workspaceId} ${id}`) ?? empty

export const attachmentsOf = (workspaceId: string, id: string): Attachments => trayOf(workspaceId, id).attachments

export const useTray = (workspaceId: string, id: string): Tray =>
  useSyncExternalStore(watch, () => trayOf(workspaceId, id))

export const changeAttachments = (workspaceId: string, id: string, change: Change): void =>
  keepAttachments(workspaceId, id, changed(attachmentsOf(workspaceId, id), change))

/** Keeps what is to be sent, ends what is not there any more, and goes on with the uploads that follow. */
export function keepAttachments(workspaceId: string, id: string, after: Attachments): void {
  const before = attachmentsOf(workspaceId, id)
  if (after === before) return
  const next = nextUploads(after)
  const attachments = next.reduce((all, one) => changed(all, { type: 'uploadBegan', id: one.id }), after)
  keep(workspaceId, id, { attachments })
  for (const gone of before.filter((one) => !after.some((other) => other.id === one.id))) end(workspaceId, id, gone)
  for (const one of next) void upload(workspaceId, id, one)
}

export const setRefused = (workspaceId: string, id: string, refused: readonly Refused[]): void =>
  keep(workspaceId, id, { refused })

/** Resolves at the next change, of whatever conversation. */
export function nextChange(): Promise<void> {
  return new Promise((resolve) => {
    const stop = watch(() => {
      stop()
      resolve()
    })
  })
}

async function upload(workspaceId: string, id: string, one: Attachment): Promise<void> {
  const stop = new AbortController()
  stops.set(one.id, stop)
  const change = (next: Change) => changeAttachments(workspaceId, id, next)
  try {
    const sent = (share: number) => change({ type: 'progressed', id: one.id, share })
    const done = await uploadFile(workspaceId, id, one, { sent, signal: stop.signal })
    if (stop.signal.aborted) void dropUpload(workspaceId, id, done.id)
    else change({ type: 'uploaded', id: one.id, upload: done })
  } catch (error) {
    change({ type: 'failed', id: one.id, error })
  }
}

function end(workspaceId: string, id: string, { id: attachmentId, step }: Attachment): void {
  stops.get(attachmentId)?.abort()
  stops.delete(attachmentId)
  const isUnused = step.at === 'ready' || (step.at === 'failed' && step.upload !== null)
  if (isUnused && step.upload !== null) void dropUpload(workspaceId, id, step.upload.id)
}

function keep(workspaceId: string, id: string, changes: Partial<Tray>): void {
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
