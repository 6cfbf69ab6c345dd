import { UnstyledButton } from '@mantine/core'
import { useState } from 'react'
import { type Channel, type CreatedConnection, useConnectionActions, useSimulatorUrl } from '../../data/connections.ts'
import { t } from '../../text/index.ts'
import { Chip } from '../../ui/Chip.tsx'
import { SidePanel } from '../../ui/page/SidePanel.tsx'
import { useDraft } from '../../ui/use-draft.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { blankWidget, type WidgetDraft, WidgetFields, widgetOf } from '../website/WidgetFields.tsx'
import styles from './ChannelChoice.module.css'
import { AddForm, type FormProps, useCreate } from './forms.tsx'
import { OfficialForm } from './OfficialForm.tsx'
import { PartnerForm } from './PartnerForm.tsx'
import { SessionForm } from './SessionForm.tsx'

interface AddPanelProps {
  close(): void
  /** Opens the page of a connection. */
  open(id: string): void
}

/** Panel that connects a number: choice of the channel, then its settings. */
export function AddPanel({ close, open }: AddPanelProps) {
  const [channel, setChannel] = useState<Channel | null>(null)
  const form = {
    close,
    back: () => setChannel(null),
    onCreated: ({ connection }: CreatedConnection) => open(connection.id),
  }

  if (channel === 'waba') return <OfficialForm {...form} />
  if (channel === 'partner') return <PartnerForm {...form} />
  if (channel === 'unofficial') return <SessionForm {...form} />
  if (channel === 'website') return <WebsiteForm {...form} />
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

/** Connects a website; there is no platform that must answer. */
function WebsiteForm({ onCreated, ...form }: FormProps) {
  const workspaceId = useWorkspaceId()
  const origins = useSimulatorUrl(workspaceId) ?? ''
  const draft = useDraft<WidgetDraft>({ name: '', widget: { ...blankWidget, origins } })
  const { create } = useConnectionActions(workspaceId)
  const save = useCreate(
    draft,
    () => create({ channel: 'website', name: draft.value.name.trim(), widget: widgetOf(draft.value) }),
    onCreated,
  )
  return (
    <AddForm {...form} channel="website" run={() => save.mutate()} isBusy={save.isPending} action={t.connections.add}>
      <WidgetFields draft={draft} />
    </AddForm>
  )
}
