import { useState } from 'react'
import type { Lead } from '../../data/leads.ts'
import type { People } from '../../data/people.ts'
import { t } from '../../text/index.ts'
import { Dialog } from '../../ui/overlay/Dialog.tsx'
import { useIsPhone } from '../../ui/use-is-phone.ts'
import { CompareLeads } from './CompareLeads.tsx'
import { PickLead } from './PickLead.tsx'

interface MergeDialogProps {
  lead: { id: string; name: string }
  /** Lead to merge with; null to choose one. */
  otherId: string | null
  people: People
  onMerged(lead: Lead): void
  close(): void
}

/** Merges two leads: choose the other lead, compare fields, review the summary. */
export default function MergeDialog({ lead, otherId, people, onMerged, close }: MergeDialogProps) {
  const [picked, setPicked] = useState(otherId)
  const isPhone = useIsPhone()
  // The lead created first is kept by default: ids are in order of creation.
  const pair = picked === null ? null : [lead.id, picked].sort()
  return (
    <Dialog close={close} size={picked === null ? 'md' : 960} fullScreen={isPhone} title={t.merge.title}>
      {pair === null ? (
        <PickLead lead={lead} pick={setPicked} />
      ) : (
        <CompareLeads first={pair[0] ?? ''} second={pair[1] ?? ''} people={people} onMerged={onMerged} close={close} />
      )}
    </Dialog>
  )
}
