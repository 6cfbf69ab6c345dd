import { UnstyledButton } from '@mantine/core'
import { useState } from 'react'
import type { Channel, CreatedConnection } from '../../data/connections.ts'
import { t } from '../../text/index.ts'
import { Chip } from '../../ui/Chip.tsx'
import { SidePanel } from '../../ui/page/SidePanel.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import styles from './ChannelChoice.module.css'
import { OfficialForm } from './OfficialForm.tsx'
import { PartnerForm } from './PartnerForm.tsx'
import { SessionForm } from './SessionForm.tsx'
import { WebsiteForm } from './WebsiteForm.tsx'

interface AddPanelProps {
  close(): void
  /** Opens the page of a connection. */
  open(id: string): void
}

/** Panel that connects a number: choice of the channel, then its settings. */
export function AddPanel({ close, open }: AddPanelProps) {
  const workspaceId = useWorkspaceId()
  const [channel, setChannel] = useState<Channel | null>(null)
  const form = {
    workspaceId,
    back: () => setChannel(null),
    onCreated: ({ connection }: CreatedConnection) => open(connection.id),
  }

  if (channel === 'waba') return <OfficialForm {...form} close={close} />
  if (channel === 'partner') return <PartnerForm {...form} close={close} />
  if (channel === 'unofficial') return <SessionForm {...form} close={close} />
  if (channel === 'website') return <WebsiteForm {...form} close={close} />
  return (
    <SidePanel title={t.connections.add} close={close}>
      <ChannelChoice choose={setChannel} />
    </SidePanel>
  )
}

const order: readonly Channel[] = ['waba', 'partner', 'unofficial', 'website']

function ChannelChoice({ choose }: { choose(channel: Channel): void }) {
  return (
    <>
      {order.map((channel) => {
        const { name, about, needs } = t.connections.channels[channel]
        return (
          <UnstyledButton key={channel} className={styles.card} onClick={() => choose(channel)}>
            <span className={styles.head}>
              <strong>{name}</strong>
              {channel === 'unofficial' && <Chip tone="attention">{t.connections.risky}</Chip>}
            </span>
            <span>{about}</span>
            <span className={styles.needs}>{needs}</span>
          </UnstyledButton>
        )
      })}
    </>
  )
}
