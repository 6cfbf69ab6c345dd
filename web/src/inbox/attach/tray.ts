import { deleteUpload, uploadFile } from '../../data/inbox/uploads.ts'
import type { Attachment, Attachments } from './attachment.ts'
import { type Change, nextToUpload, reduceAttachments } from './attachments.ts'
import { attachmentsOf, type RejectedFile, saveTray } from './tray-store.ts'

const abortControllers = new Map<string, AbortController>()

export const changeAttachments = (workspaceId: string, id: string, change: Change): void =>
  setAttachments(workspaceId, id, reduceAttachments(attachmentsOf(workspaceId, id), change))

/** Stores the files, aborts uploads of removed files, and starts the next uploads. */
export function setAttachments(workspaceId: string, id: string, after: Attachments): void {
  const before = attachmentsOf(workspaceId, id)
  if (after === before) return
  const next = nextToUpload(after)
  const attachments = next.reduce((all, one) => reduceAttachments(all, { type: 'uploadBegan', id: one.id }), after)
  saveTray(workspaceId, id, { attachments })
  for (const removed of before.filter((one) => !after.some((other) => other.id === one.id)))
    end(workspaceId, id, removed)
  for (const one of next) void upload(workspaceId, id, one)
}

export const setRejected = (workspaceId: string, id: string, rejected: readonly RejectedFile[]): void =>
  saveTray(workspaceId, id, { rejected })

async function upload(workspaceId: string, id: string, one: Attachment): Promise<void> {
  const stop = new AbortController()
  abortControllers.set(one.id, stop)
  const change = (next: Change) => changeAttachments(workspaceId, id, next)
  try {
    const onProgress = (share: number) => change({ type: 'progressed', id: one.id, share })
    const done = await uploadFile(workspaceId, id, one, { onProgress, signal: stop.signal })
    if (stop.signal.aborted) void deleteUpload(workspaceId, id, done.id)
    else change({ type: 'uploaded', id: one.id, upload: done })
  } catch (error) {
    change({ type: 'failed', id: one.id, error })
  }
}

function end(workspaceId: string, id: string, { id: attachmentId, step }: Attachment): void {
  abortControllers.get(attachmentId)?.abort()
  abortControllers.delete(attachmentId)
  const isUnused = step.at === 'ready' || (step.at === 'failed' && step.upload !== null)
  if (isUnused && step.upload !== null) void deleteUpload(workspaceId, id, step.upload.id)
}
