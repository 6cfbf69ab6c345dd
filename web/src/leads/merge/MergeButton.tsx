import { ActionIcon, Button } from '@mantine/core'
import { IconArrowMerge } from '@tabler/icons-react'
import { type ComponentProps, useState } from 'react'
import type { Lead } from '../../data/leads.ts'
import { t } from '../../text/index.ts'
import { lazyComponent } from '../../ui/overlay/lazy.ts'

const MergeDialog = lazyComponent(() => import('./MergeDialog.tsx'))

interface MergeButtonProps extends Omit<ComponentProps<typeof MergeDialog>, 'close'> {
  /** Label; without one, an icon. */
  label?: string
}

export function MergeButton({ label, onMerged, ...dialog }: MergeButtonProps) {
  const [isOpen, setOpen] = useState(false)
  const close = () => setOpen(false)
  const open = () => setOpen(true)
  const done = (lead: Lead) => {
    close()
    onMerged(lead)
  }
  return (
    <>
      {label === undefined ? (
        <ActionIcon variant="subtle" color="gray" onClick={open} aria-label={t.merge.open} title={t.merge.open}>
          <IconArrowMerge size={16} />
        </ActionIcon>
      ) : (
        <Button variant="default" size="compact-sm" leftSection={<IconArrowMerge size={14} />} onClick={open}>
          {label}
        </Button>
      )}
      {isOpen && <MergeDialog {...dialog} onMerged={done} close={close} />}
    </>
  )
}
