import { PasswordInput, TextInput } from '@mantine/core'
import type { NewConnection } from '../../data/connections.ts'
import { t } from '../../text/index.ts'
import { PanelButtons } from '../../ui/page/PanelButtons.tsx'
import { SidePanel } from '../../ui/page/SidePanel.tsx'
import { useDraft } from '../../ui/use-draft.ts'
import { filledFields } from './filled-fields.ts'
import type { FormProps } from './form-props.ts'
import styles from './forms.module.css'
import { useConnect } from './use-connect.tsx'

const blank = { name: '', numberId: '', apiKey: '', signingSecret: '', baseUrl: '' }

/** Form for a number at a partner of the platform, where Parley registers its webhook. */
export function PartnerForm({ back, close, onCreated }: FormProps) {
  const draft = useDraft(blank)
  const { value, set, errorOf } = draft
  const { fields, channels, check } = t.connections
  const connect = useConnect(
    () => ({ channel: 'partner', profile: '360dialog', ...filledFields(value) }) as NewConnection,
    onCreated,
    draft.applyError,
  )
  const text = (field: keyof typeof blank) => ({
    value: value[field],
    error: errorOf(field),
    onChange: (event: { currentTarget: { value: string } }) => set({ [field]: event.currentTarget.value }),
    autoComplete: 'off',
  })
  return (
    <SidePanel
      title={channels.partner.name}
      close={close}
      submit={connect.run}
      footer={<PanelButtons close={back} leave={t.common.back} isBusy={connect.isBusy} action={check} />}
    >
      <p className={styles.help}>{channels.partner.where}</p>
      <TextInput label={fields.name} description={fields.nameHelp} data-autofocus required {...text('name')} />
      <TextInput label={fields.numberId} description={fields.partnerNumberIdHelp} required {...text('numberId')} />
      <PasswordInput label={fields.apiKey} description={fields.apiKeyHelp} required {...text('apiKey')} />
      <PasswordInput label={fields.signingSecret} description={fields.signingSecretHelp} {...text('signingSecret')} />
      <TextInput
        label={fields.baseUrl}
        description={fields.baseUrlHelp}
        placeholder="https://waba-v2.360dialog.io"
        {...text('baseUrl')}
      />
      {connect.onFailed}
    </SidePanel>
  )
}
