import { Button, FileButton, Input } from '@mantine/core'
import { IconUpload } from '@tabler/icons-react'
import { useState } from 'react'
import { ApiError } from '../api/api-error.ts'
import { uploadSample } from '../data/team/templates.ts'
import { t } from '../text/index.ts'
import { errorSentence } from '../ui/format/error-texts.ts'
import { formatFileSize } from '../ui/format/size.ts'
import { formatNumber } from '../ui/format/time.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import styles from './Editor.module.css'
import type { PartProps } from './editor-parts.tsx'

const accepted = { image: 'image/jpeg,image/png', video: 'video/mp4', document: 'application/pdf' }

/** Uploads the sample file that the platform reviews with a header. */
export function SampleFile({ kind, editor, limits, errorOf }: PartProps & { kind: keyof typeof accepted }) {
  const workspaceId = useWorkspaceId()
  const texts = t.templates.editor
  const [fraction, setFraction] = useState<number | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const upload = async (file: File) => {
    if (!accepted[kind].split(',').includes(file.type)) return setProblem(texts.fileTypes[kind])
    const most = limits?.sampleBytes ?? file.size
    if (file.size > most) return setProblem(texts.fileSize({ most: formatFileSize(most) }))
    setProblem(null)
    setFraction(0)
    try {
      // The server must know the type of the header first.
      const { id } = await editor.flush()
      editor.accept(await uploadSample(workspaceId, id, file, setFraction))
    } catch (error) {
      setProblem(uploadProblem(error))
    } finally {
      setFraction(null)
    }
  }
  const { fileName } = editor.draft
  return (
    <Input.Wrapper
      label={texts.sampleFile}
      description={texts.sampleFileHelp}
      error={problem ?? errorOf('header.file')}
      labelElement="div"
    >
      <div className={styles.tools}>
        <FileButton accept={accepted[kind]} onChange={(file) => file !== null && void upload(file)}>
          {(props) => (
            <Button
              {...props}
              size="compact-sm"
              variant="default"
              leftSection={<IconUpload size={14} />}
              loading={fraction !== null}
            >
              {fileName === null ? texts.chooseFile : texts.anotherFile}
            </Button>
          )}
        </FileButton>
        <span role="status">
          {fraction !== null ? formatNumber(fraction, { style: 'percent', maximumFractionDigits: 0 }) : fileName}
        </span>
      </div>
    </Input.Wrapper>
  )
}

function uploadProblem(error: unknown): string {
  const { codes, refused } = t.templates.editor
  if (!(error instanceof ApiError)) return errorSentence(error)
  const known: Record<string, string> = codes
  const words = error.data.platform_message
  const explained = (error.code !== null && known[error.code]) || errorSentence(error)
  return typeof words === 'string' ? `${explained} ${refused({ words })}` : explained
}
