import type { UploadLimits } from '../../data/inbox/types.ts'
import { t } from '../../text/index.ts'
import type { Attachment } from './attachment.ts'
import { decideFile } from './limits.ts'
import { changeAttachments, setRejected } from './tray.ts'
import { attachmentsOf, type RejectedFile } from './tray-store.ts'

/** The server stores at most 20 unsent uploads per person. */
const maxFiles = 20

/** Adds files in order. Files that the channel does not accept are rejected with a reason before they are uploaded. */
export function attachFiles(workspaceId: string, id: string, limits: UploadLimits, input: readonly File[]): void {
  const refused: RejectedFile[] = []
  const attachments: Attachment[] = []
  const free = maxFiles - attachmentsOf(workspaceId, id).length
  for (const file of renamed(input)) {
    const name = file.name.slice(0, 255) || t.attach.pasted
    const fit = decideFile(file, limits)
    if (attachments.length >= free) refused.push({ name, reason: 'many', limit: maxFiles })
    else if ('refused' in fit) refused.push({ name, reason: fit.refused, limit: 'bytes' in fit ? fit.bytes : 0 })
    else attachments.push(newAttachment({ file, name, ...fit }))
  }
  setRejected(workspaceId, id, refused)
  if (attachments.length > 0) changeAttachments(workspaceId, id, { type: 'added', attachments })
}

type NewAttachmentInput = Pick<Attachment, 'file' | 'name' | 'kind' | 'type'> &
  Partial<Pick<Attachment, 'seconds' | 'waveform'>>

export const newAttachment = (input: NewAttachmentInput): Attachment => ({
  id: crypto.randomUUID(),
  key: crypto.randomUUID(),
  seconds: null,
  waveform: null,
  caption: '',
  submitted: null,
  step: { at: 'waiting' },
  ...input,
})

/** Renames pasted images, which all have the same name. */
function renamed(files: readonly File[]): File[] {
  return files.map((file) => {
    if (file.name !== 'image.png') return file
    return new File([file], `${t.attach.pasted}.png`, { type: file.type })
  })
}
