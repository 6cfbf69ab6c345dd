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
  /** Who it is to be merged with; when nobody is named, whoever opened this picks. */
  otherId: string | null
  people: People
  onMerged(lead: Lead): void
  close(): void
}

/** Makes one lead of two: picks the other, compares them field by field, says what will happen, and does it. */
export default function MergeDialog({ lead, otherId, people, onMerged, close }: MergeDialogProps) {
  const [picked, setPicked] = useState(otherId)
  const isPhone = useIsPhone()
  // The one that was made first is kept, unless somebody says otherwise: ids are in the order of time.
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
