import { Button, Progress } from '@mantine/core'
import { useEffect, useState } from 'react'
import { type Import, useImportActions } from '../../data/imports.ts'
import { t } from '../../text/index.ts'
import { errorSentence } from '../../ui/format/error-texts.ts'
import { formatNumber } from '../../ui/format/time.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { DropFile } from './DropFile.tsx'
import styles from './transfer.module.css'
import { uploadFile } from './upload.ts'

interface UploadStepProps {
  one: Import
  file: File | null
  setFile(file: File): void
}

const megabyte = 1_000_000

/** Uploads the file. Without the file, such as after a reload, asks for it and resumes the upload. */
export function UploadStep({ one, file, setFile }: UploadStepProps) {
  const [isOther, setOther] = useState(false)
  const { upload } = t.transfer
  if (file === null)
    return (
      <>
        <p>{upload.again({ p: formatNumber(Math.round((100 * one.uploadedBytes) / one.sizeBytes)) })}</p>
        {isOther && <p role="alert">{upload.other({ name: one.fileName })}</p>}
        <DropFile
          label={upload.sameFile({ name: one.fileName })}
          take={(chosen) => {
            const isSame = chosen.name === one.fileName && chosen.size === one.sizeBytes
            setOther(!isSame)
            if (isSame) setFile(chosen)
          }}
        />
      </>
    )
  return <Uploading one={one} file={file} />
}

function Uploading({ one, file }: Omit<UploadStepProps, 'setFile'> & { file: File }) {
  const workspaceId = useWorkspaceId()
  const [error, setError] = useState<unknown>(null)
  const [attempt, setAttempt] = useState(0)
  const { keep } = useImportActions(workspaceId)
  // biome-ignore lint/correctness/useExhaustiveDependencies: once per attempt; uploaded parts change the rest
  useEffect(() => {
    const stop = new AbortController()
    setError(null)
    uploadFile(workspaceId, one, file, keep, stop.signal).catch((failure) => {
      if (!stop.signal.aborted) setError(failure)
    })
    return () => stop.abort()
  }, [one.id, attempt])
  const { upload } = t.transfer
  const megabytes = (bytes: number) => formatNumber(bytes / megabyte, { maximumFractionDigits: 1 })
  return (
    <>
      <Progress value={(100 * one.uploadedBytes) / one.sizeBytes} aria-label={upload.label} />
      <p className={styles.muted}>
        {upload.sent({ done: megabytes(one.uploadedBytes), all: megabytes(one.sizeBytes) })}
      </p>
      {error !== null && (
        <div role="alert" className={styles.row}>
          {errorSentence(error)}
          <Button variant="default" onClick={() => setAttempt(attempt + 1)}>
            {t.common.retry}
          </Button>
        </div>
      )}
    </>
  )
}
