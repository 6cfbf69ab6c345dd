import { Checkbox, PasswordInput, TextInput, UnstyledButton } from '@mantine/core'
import { useState } from 'react'
import {
  type Channel,
  type CreatedConnection,
  type NewConnection,
  useConnectionActions,
  useSimulatorUrl,
} from '../../data/connections.ts'
import { t } from '../../text/index.ts'
import { Chip } from '../../ui/Chip.tsx'
import { showError } from '../../ui/overlay/toasts.tsx'
import { SidePanel } from '../../ui/page/SidePanel.tsx'
import { useDraft } from '../../ui/use-draft.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { RiskText, rememberConsent } from '../parts/risk.tsx'
import { blankWidget, type WidgetDraft, WidgetFields, widgetOf } from '../website/WidgetFields.tsx'
import styles from './ChannelChoice.module.css'
import forms from './forms.module.css'
import { AddForm, type FormProps, filledFields, textField, useNetworkChoice } from './forms.tsx'
import { OfficialForm } from './OfficialForm.tsx'

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
function WebsiteForm(form: FormProps) {
  const workspaceId = useWorkspaceId()
  const origins = useSimulatorUrl(workspaceId) ?? ''
  const draft = useDraft<WidgetDraft>({ name: '', widget: { ...blankWidget, origins } })
  const { create } = useConnectionActions(workspaceId)
  const { name } = draft.value
  return (
    <AddForm
      {...form}
      channel="website"
      draft={draft}
      create={() => create({ channel: 'website', name: name.trim(), widget: widgetOf(draft.value) })}
      action={t.connections.add}
    >
      <WidgetFields draft={draft} />
    </AddForm>
  )
}

/** Form that links a phone as a device. The risk must be accepted before a code is shown. */
function SessionForm(form: FormProps) {
  const draft = useDraft({ name: '' })
  const { address, field } = useNetworkChoice()
  const [isUnderstood, setUnderstood] = useState(false)
  const { create, pair } = useConnectionActions(useWorkspaceId())
  const { fields, showCode, risk } = t.connections
  const link = async () => {
    const response = await create({ channel: 'unofficial', name: draft.value.name.trim(), ...address })
    rememberConsent(response.connection.id)
    // The connection exists: if pairing fails to start, its page says so and offers to start again.
    await pair(response.connection.id, { method: 'qr' }).catch(showError)
    return response
  }
  return (
    <AddForm {...form} channel="unofficial" draft={draft} create={link} action={showCode} disabled={!isUnderstood}>
      <TextInput
        label={fields.name}
        description={fields.nameHelp}
        data-autofocus
        required
        {...textField(draft, 'name')}
      />
      {field}
      <RiskText />
      <Checkbox
        label={risk.understood}
        checked={isUnderstood}
        onChange={(event) => setUnderstood(event.currentTarget.checked)}
      />
    </AddForm>
  )
}

const blankPartner = { name: '', numberId: '', apiKey: '', signingSecret: '', baseUrl: '' }

/** Form for a number at a partner of the platform, where Parley registers its webhook. */
function PartnerForm(form: FormProps) {
  const draft = useDraft(blankPartner)
  const { fields, channels, check } = t.connections
  const { create } = useConnectionActions(useWorkspaceId())
  const connect = (mustAnswer: boolean) =>
    create({
      ...{ channel: 'partner', profile: '360dialog', ...filledFields(draft.value) },
      ...(mustAnswer && { mustAnswer }),
    } as NewConnection)
  return (
    <AddForm {...form} channel="partner" draft={draft} create={connect} action={check}>
      <p className={forms.help}>{channels.partner.where}</p>
      <TextInput
        label={fields.name}
        description={fields.nameHelp}
        data-autofocus
        required
        {...textField(draft, 'name')}
      />
      <TextInput
        label={fields.numberId}
        description={fields.partnerNumberIdHelp}
        required
        {...textField(draft, 'numberId')}
      />
      <PasswordInput label={fields.apiKey} description={fields.apiKeyHelp} required {...textField(draft, 'apiKey')} />
      <PasswordInput
        label={fields.signingSecret}
        description={fields.signingSecretHelp}
        {...textField(draft, 'signingSecret')}
      />
      <TextInput
        label={fields.baseUrl}
        description={fields.baseUrlHelp}
        placeholder="https://waba-v2.360dialog.io"
        {...textField(draft, 'baseUrl')}
      />
    </AddForm>
  )
}
