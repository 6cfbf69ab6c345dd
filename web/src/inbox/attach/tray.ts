import { dropUpload, uploadFile } from '../../data/inbox/uploads.ts'
import type { Attachment, Attachments } from './attachment.ts'
import { type Change, changed, nextUploads } from './attachments.ts'
import { attachmentsOf, keepTray, type Refused } from './held-files.ts'

const stops = new Map<string, AbortController>()

export const changeAttachments = (workspaceId: string, id: string, change: Change): void =>
  keepAttachments(workspaceId, id, changed(attachmentsOf(workspaceId, id), change))

/** Keeps what is to be sent, ends what is not there any more, and goes on with the uploads that follow. */
export function keepAttachments(workspaceId: string, id: string, after: Attachments): void {
  const before = attachmentsOf(workspaceId, id)
  if (after === before) return
  const next = nextUploads(after)
  const attachments = next.reduce((all, one) => changed(all, { type: 'uploadBegan', id: one.id }), after)
  keepTray(workspaceId, id, { attachments })
  for (const gone of before.filter((one) => !after.some((other) => other.id === one.id))) end(workspaceId, id, gone)
  for (const one of next) void upload(workspaceId, id, one)
}

export const setRefused = (workspaceId: string, id: string, refused: readonly Refused[]): void =>
  keepTray(workspaceId, id, { refused })

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
