import { Button, FileButton, Input } from '@mantine/core'
import { IconUpload } from '@tabler/icons-react'
import type { MediaKind, UploadLimits } from '../../data/inbox/types.ts'
import { t } from '../../text/index.ts'
import { formatNumber } from '../../ui/format/time.ts'
import { acceptOf } from './attachment.ts'
import styles from './Tray.module.css'
import type { HeaderFile } from './use-header-file.ts'

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
