import { ActionIcon } from '@mantine/core'
import { IconMicrophone, IconPaperclip } from '@tabler/icons-react'
import { useMemo, useRef } from 'react'
import type { UploadLimits } from '../../data/inbox/types.ts'
import { t } from '../../text/index.ts'
import { useShortcuts } from '../../ui/shortcuts.ts'
import { acceptOf } from './attachment.ts'

interface AttachButtonsProps {
  /** Undefined until loaded. */
  limits: UploadLimits | undefined
  addFiles(files: readonly File[]): void
  record(): void
}

/** Buttons to choose files or to start a recording. */
export function AttachButtons({ limits, addFiles, record }: AttachButtonsProps) {
  const input = useRef<HTMLInputElement>(null)
  const texts = t.attach
  const isOff = limits === undefined
  useShortcuts(
    t.compose.title,
    useMemo(() => [{ keys: 'p', label: t.attach.choose, run: () => input.current?.click() }], []),
  )
  if (limits?.kinds.length === 0) return null
  return (
    <>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        tabIndex={-1}
        accept={limits && acceptOf(limits)}
        onChange={({ currentTarget }) => {
          addFiles([...(currentTarget.files ?? [])])
          // Allows choosing the same file again.
          currentTarget.value = ''
        }}
      />
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={texts.choose}
        title={isOff ? texts.checkingLimits : texts.choose}
        disabled={isOff}
        onClick={() => input.current?.click()}
      >
        <IconPaperclip size={18} />
      </ActionIcon>
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={texts.record}
        title={texts.record}
        disabled={isOff}
        onClick={record}
      >
        <IconMicrophone size={18} />
      </ActionIcon>
    </>
  )
}
