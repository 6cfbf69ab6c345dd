import { Button, FileButton, Input } from '@mantine/core'
import { IconUpload } from '@tabler/icons-react'
import { useEffect, useRef, useState } from 'react'
import type { MediaKind, Upload, UploadLimits } from '../../data/inbox/types.ts'
import { deleteUpload, uploadFile } from '../../data/inbox/uploads.ts'
import { t } from '../../text/index.ts'
import { errorSentence } from '../../ui/format/error-texts.ts'
import { formatFileSize } from '../../ui/format/size.ts'
import { formatNumber } from '../../ui/format/time.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { acceptOf } from './attachment.ts'
import { decideFile } from './limits.ts'
import styles from './Tray.module.css'

interface HeaderFieldProps {
  kind: Extract<MediaKind, 'image' | 'video' | 'document'>
  limits: UploadLimits | undefined
  file: HeaderFile
  isMissing: boolean
}

/** Chooses the file for the header of a template. */
export function HeaderField({ kind, limits, file, isMissing }: HeaderFieldProps) {
  const texts = t.files.header
  const problem = file.problem ?? (isMissing ? texts.needed : undefined)
  return (
    <Input.Wrapper label={texts[kind]} error={problem} labelElement="div">
      <div className={styles.state}>
        <FileButton accept={limits && acceptOf(limits, kind)} onChange={(chosen) => chosen && file.choose(chosen)}>
          {(props) => (
            <Button
              {...props}
              size="compact-sm"
              variant="default"
              leftSection={<IconUpload size={16} />}
              disabled={limits === undefined}
              aria-label={`${texts[kind]}: ${file.name === null ? texts.choose : texts.another}`}
            >
              {file.name === null ? texts.choose : texts.another}
            </Button>
          )}
        </FileButton>
        {file.uploadedFraction !== null && (
          <progress
            className={styles.share}
            max={1}
            value={file.uploadedFraction}
            aria-label={file.name ?? texts[kind]}
          />
        )}
        <span role="status">
          {file.name} {file.uploadedFraction !== null && t.files.uploading({ percent: percent(file.uploadedFraction) })}
        </span>
      </div>
    </Input.Wrapper>
  )
}

const percent = (share: number): string => formatNumber(share, { style: 'percent', maximumFractionDigits: 0 })

interface HeaderFile {
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
