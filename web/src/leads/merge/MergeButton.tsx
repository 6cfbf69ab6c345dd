import { ActionIcon, Button } from '@mantine/core'
import { IconArrowMerge } from '@tabler/icons-react'
import { useState } from 'react'
import type { Lead } from '../../data/leads.ts'
import type { People } from '../../data/people.ts'
import { t } from '../../text/index.ts'
import { lazyComponent } from '../../ui/overlay/lazy.ts'

const MergeDialog = lazyComponent(() => import('./MergeDialog.tsx'))

interface MergeButtonProps {
  lead: { id: string; name: string }
  /** Lead to merge with; null to choose one. */
  otherId: string | null
  people: People
  onMerged(lead: Lead): void
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
