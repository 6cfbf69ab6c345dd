import type { UploadLimits } from '../../data/inbox/types.ts'
import { t } from '../../text/index.ts'
import type { Attachment } from './attachment.ts'
import { attachmentsOf, type Refused } from './held-files.ts'
import { fitOf } from './limits.ts'
import { changeAttachments, setRefused } from './tray.ts'

/** The service keeps so many of one person that no message has taken. */
const maxFiles = 20

/** Takes files to be sent, in their order; of those that the channel would not take it says why, before a byte goes. */
export function takeFiles(workspaceId: string, id: string, limits: UploadLimits, given: readonly File[]): void {
  const refused: Refused[] = []
  const attachments: Attachment[] = []
  const free = maxFiles - attachmentsOf(workspaceId, id).length
  for (const file of renamed(given)) {
    const name = file.name.slice(0, 255) || t.attach.pasted
    const fit = fitOf(file, limits)
    if (attachments.length >= free) refused.push({ name, reason: 'many', most: maxFiles })
    else if ('refused' in fit) refused.push({ name, reason: fit.refused, most: 'bytes' in fit ? fit.bytes : 0 })
    else attachments.push(newAttachment({ file, name, ...fit }))
  }
  setRefused(workspaceId, id, refused)
  if (attachments.length > 0) changeAttachments(workspaceId, id, { type: 'added', attachments })
}

type Given = Pick<Attachment, 'file' | 'name' | 'kind' | 'type'> & Partial<Pick<Attachment, 'seconds' | 'waveform'>>

export const newAttachment = (given: Given): Attachment => ({
  id: crypto.randomUUID(),
  key: crypto.randomUUID(),
  seconds: null,
  waveform: null,
  caption: '',
  letGo: null,
  step: { at: 'waiting' },
  ...given,
})

/** Every picture that is pasted has the same name, which says nothing. */
function renamed(files: readonly File[]): File[] {
  return files.map((file) => {
    if (file.name !== 'image.png') return file
    return new File([file], `${t.attach.pasted}.png`, { type: file.type })
  })
}
