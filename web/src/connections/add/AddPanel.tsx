import { useState } from 'react'
import type { Channel, Made } from '../../data/connections.ts'
import { t } from '../../text/index.ts'
import { SidePanel } from '../../ui/page/SidePanel.tsx'
import { ChannelChoice } from './ChannelChoice.tsx'
import { OfficialForm } from './OfficialForm.tsx'
import { PartnerForm } from './PartnerForm.tsx'
import { SessionForm } from './SessionForm.tsx'
import { WebhookToPaste } from './WebhookToPaste.tsx'

interface AddPanelProps {
  workspaceId: string
  close(): void
  /** Shows the page of a connection. */
  open(id: string): void
}

/** Connects a number: which way, then what that way needs, then what is left to do. */
export function AddPanel({ workspaceId, close, open }: AddPanelProps) {
  const [channel, setChannel] = useState<Channel | null>(null)
  const [made, setMade] = useState<Made | null>(null)
  const form = { workspaceId, back: () => setChannel(null), made: ({ connection }: Made) => open(connection.id) }

  if (made?.webhook) return <WebhookToPaste made={made} webhook={made.webhook} done={() => open(made.connection.id)} />
  if (channel === 'waba') return <OfficialForm {...form} close={close} made={setMade} />
  if (channel === 'partner') return <PartnerForm {...form} close={close} />
  if (channel === 'unofficial') return <SessionForm {...form} close={close} />
  return (
    <SidePanel title={t.connections.add} close={close}>
      <ChannelChoice choose={setChannel} />
    </SidePanel>
  )
}
