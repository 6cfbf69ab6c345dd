import { ActionIcon } from '@mantine/core'
import { IconHandClick } from '@tabler/icons-react'
import { Suspense, useState } from 'react'
import type { Reply } from '../../data/inbox/types.ts'
import { t, withTexts } from '../../text/index.ts'
import { lazyComponent } from '../../ui/overlay/lazy.ts'

const PromptDialog = lazyComponent(() => withTexts(() => import('./PromptDialog.tsx')))

/** Button for messages that ask the customer to press one. */
export function PromptButton({ send }: { send(reply: Reply, text: string): void }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={t.attach.prompt}
        title={t.attach.prompt}
        onClick={() => setOpen(true)}
      >
        <IconHandClick size={18} />
      </ActionIcon>
      {isOpen && (
        <Suspense>
          <PromptDialog close={() => setOpen(false)} send={send} />
        </Suspense>
      )}
    </>
  )
}
