import { useEffect, useRef, useState } from 'react'
import type { MediaKind, Upload, UploadLimits } from '../../data/inbox/types.ts'
import { dropUpload, uploadFile } from '../../data/inbox/uploads.ts'
import { t } from '../../text/index.ts'
import { sentenceFor } from '../../ui/format/failure-words.ts'
import { fileSize } from '../../ui/format/size.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { fitOf } from './limits.ts'

export interface HeaderFile {
  name: string | null
  /** How much of it is uploaded; null while nothing is. */
  share: number | null
  problem: string | null
  upload: Upload | null
  choose(file: File): void
  /** It is a message's now, and not to be dropped. */
  taken(): void
}

const none = { name: null, share: null, problem: null, upload: null }

/** The one file that a template's header shows. */
export function useHeaderFile(conversationId: string, kind: MediaKind, limits: UploadLimits | undefined): HeaderFile {
  const workspaceId = useWorkspaceId()
  const [state, setState] = useState<Pick<HeaderFile, keyof typeof none>>(none)
  const running = useRef<AbortController | null>(null)
  const held = useRef<Upload | null>(null)
  const drop = useRef(() => {})
  drop.current = () => {
    running.current?.abort()
    if (held.current !== null) void dropUpload(workspaceId, conversationId, held.current.id)
    held.current = null
  }
  useEffect(() => () => drop.current(), [])

  const choose = async (file: File) => {
    const kinds = limits?.kinds.filter((one) => one.kind === kind) ?? []
    const fit = fitOf(file, { kinds })
    drop.current()
    const { name } = file
    if ('refused' in fit) return setState({ ...none, problem: wordsOf(name, fit) })
    const stop = new AbortController()
    running.current = stop
    setState({ ...none, name, share: 0 })
    const wish = { file, kind: fit.kind, name, type: fit.type, seconds: null, waveform: null }
    try {
      const sent = (share: number) => !stop.signal.aborted && setState({ ...none, name, share })
      const upload = await uploadFile(workspaceId, conversationId, wish, { sent, signal: stop.signal })
      if (stop.signal.aborted) return void dropUpload(workspaceId, conversationId, upload.id)
      held.current = upload
      setState({ ...none, name, upload })
    } catch (error) {
      if (!stop.signal.aborted) setState({ ...none, problem: `${t.files.notUploaded}. ${sentenceFor(error)}` })
    }
  }
  return {
    ...state,
    choose: (file) => void choose(file),
    taken: () => {
      held.current = null
    },
  }
}

function wordsOf(name: string, fit: Extract<ReturnType<typeof fitOf>, { refused: string }>): string {
  const { refused } = t.files
  return 'bytes' in fit ? refused.size({ name, most: fileSize(fit.bytes) }) : refused[fit.refused]({ name })
}
