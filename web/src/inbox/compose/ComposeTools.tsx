import { IconBook, IconHandClick, IconMicrophone, IconPaperclip } from '@tabler/icons-react'
import { Suspense, useMemo, useRef, useState } from 'react'
import type { Reply, UploadLimits } from '../../data/inbox/types.ts'
import { t, withTexts } from '../../text/index.ts'
import { lazyComponent } from '../../ui/overlay/lazy.ts'
import { useShortcuts } from '../../ui/shortcuts.ts'
import { acceptOf } from '../attach/attachment.ts'
import { IconButton } from '../parts/IconButton.tsx'

const KnowledgeSearch = lazyComponent(() => withTexts(() => import('../knowledge/KnowledgeSearch.tsx')))
const PromptDialog = lazyComponent(() => withTexts(() => import('../prompt/PromptDialog.tsx')))

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
  const choose = () => input.current?.click()
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
      <IconButton
        icon={IconPaperclip}
        label={texts.choose}
        title={isOff ? texts.checkingLimits : texts.choose}
        disabled={isOff}
        onClick={choose}
      />
      <IconButton icon={IconMicrophone} label={texts.record} disabled={isOff} onClick={record} />
    </>
  )
}

/** Button for messages that ask the customer to press one. */
export function PromptButton({ send }: { send(reply: Reply, text: string): void }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <IconButton icon={IconHandClick} label={t.attach.prompt} onClick={() => setOpen(true)} />
      {isOpen && (
        <Suspense>
          <PromptDialog close={() => setOpen(false)} send={send} />
        </Suspense>
      )}
    </>
  )
}

/** Button that finds an article and inserts it into the reply. */
export function KnowledgeButton({ insert }: { insert(text: string): void }) {
  const [isOpen, setOpen] = useState(false)
  const label = t.articles.title
  useShortcuts(
    t.compose.title,
    useMemo(() => [{ keys: 'mod+j', label, run: () => setOpen(true), inFields: true }], [label]),
  )
  return (
    <>
      <IconButton icon={IconBook} label={label} onClick={() => setOpen(true)} />
      {isOpen && (
        <Suspense>
          <KnowledgeSearch close={() => setOpen(false)} insert={insert} />
        </Suspense>
      )}
    </>
  )
}
