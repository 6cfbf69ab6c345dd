import { useEffect, useRef, useState } from 'react'
import type { MediaKind, Upload, UploadLimits } from '../../data/inbox/types.ts'
import { deleteUpload, uploadFile } from '../../data/inbox/uploads.ts'
import { t } from '../../text/index.ts'
import { errorSentence } from '../../ui/format/error-texts.ts'
import { formatFileSize } from '../../ui/format/size.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { decideFile } from './limits.ts'

export interface HeaderFile {
  name: string | null
  /** Uploaded fraction; null if no upload is running. */
  uploadedFraction: number | null
  problem: string | null
  upload: Upload | null
  choose(file: File): void
  /** The file was sent and must not be deleted. */
  release(): void
}

const none = { name: null, uploadedFraction: null, problem: null, upload: null }

/** Returns the file of a template's header. */
export function useHeaderFile(conversationId: string, kind: MediaKind, limits: UploadLimits | undefined): HeaderFile {
  const workspaceId = useWorkspaceId()
  const [state, setState] = useState<Pick<HeaderFile, keyof typeof none>>(none)
  const running = useRef<AbortController | null>(null)
  const currentUpload = useRef<Upload | null>(null)
  const discard = useRef(() => {})
  discard.current = () => {
    running.current?.abort()
    if (currentUpload.current !== null) void deleteUpload(workspaceId, conversationId, currentUpload.current.id)
    currentUpload.current = null
  }
  useEffect(() => () => discard.current(), [])

  const choose = async (file: File) => {
    const kinds = limits?.kinds.filter((one) => one.kind === kind) ?? []
    const fit = decideFile(file, { kinds })
    discard.current()
    const { name } = file
    if ('refused' in fit) return setState({ ...none, problem: problemText(name, fit) })
    const stop = new AbortController()
    running.current = stop
    setState({ ...none, name, uploadedFraction: 0 })
    const fileToUpload = { file, kind: fit.kind, name, type: fit.type, seconds: null, waveform: null }
    try {
      const onProgress = (uploadedFraction: number) =>
        !stop.signal.aborted && setState({ ...none, name, uploadedFraction })
      const upload = await uploadFile(workspaceId, conversationId, fileToUpload, { onProgress, signal: stop.signal })
      if (stop.signal.aborted) return void deleteUpload(workspaceId, conversationId, upload.id)
      currentUpload.current = upload
      setState({ ...none, name, upload })
    } catch (error) {
      if (!stop.signal.aborted) setState({ ...none, problem: `${t.files.notUploaded}. ${errorSentence(error)}` })
    }
  }
  return {
    ...state,
    choose: (file) => void choose(file),
    release: () => {
      currentUpload.current = null
    },
  }
}

function problemText(name: string, fit: Extract<ReturnType<typeof decideFile>, { refused: string }>): string {
  const { refused } = t.files
  return 'bytes' in fit ? refused.size({ name, most: formatFileSize(fit.bytes) }) : refused[fit.refused]({ name })
}
