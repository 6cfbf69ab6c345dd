import { Collapse, PasswordInput, TextInput, UnstyledButton } from '@mantine/core'
import { useState } from 'react'
import type { NewConnection } from '../../data/connections.ts'
import { t } from '../../text/index.ts'
import { PanelButtons } from '../../ui/page/PanelButtons.tsx'
import { SidePanel } from '../../ui/page/SidePanel.tsx'
import { type Draft, useDraft } from '../../ui/use-draft.ts'
import { filledFields } from './filled-fields.ts'
import type { FormProps } from './form-props.ts'
import styles from './forms.module.css'
import { useConnect } from './use-connect.tsx'

const blank = { name: '', numberId: '', accountId: '', accessToken: '', appSecret: '', baseUrl: '', version: '' }
type OfficialDraft = typeof blank

/** Form for a number on the official platform. */
export function OfficialForm({ back, close, onCreated }: FormProps) {
  const draft = useDraft<OfficialDraft>(blank)
  const { value, set, errorOf } = draft
  const { fields, channels, check } = t.connections
  const connect = useConnect(
    () => ({ channel: 'waba', ...filledFields(value) }) as NewConnection,
    onCreated,
    draft.applyError,
  )
  const text = (field: keyof OfficialDraft) => ({
    value: value[field],
    error: errorOf(field),
    onChange: (event: { currentTarget: { value: string } }) => set({ [field]: event.currentTarget.value }),
    autoComplete: 'off',
  })
  return (
    <SidePanel
      title={channels.waba.name}
      close={close}
      submit={connect.run}
      footer={<PanelButtons close={back} leave={t.common.back} isBusy={connect.isBusy} action={check} />}
    >
      <p className={styles.help}>{channels.waba.where}</p>
      <TextInput label={fields.name} description={fields.nameHelp} data-autofocus required {...text('name')} />
      <TextInput label={fields.numberId} description={fields.numberIdHelp} required {...text('numberId')} />
      <TextInput label={fields.accountId} description={fields.accountIdHelp} {...text('accountId')} />
      <PasswordInput
        label={fields.accessToken}
        description={fields.accessTokenHelp}
        required
        {...text('accessToken')}
      />
      <PasswordInput label={fields.appSecret} description={fields.appSecretHelp} required {...text('appSecret')} />
      <Advanced draft={draft} />
      {connect.onFailed}
    </SidePanel>
  )
}

function Advanced({ draft: { value, set, errorOf } }: { draft: Draft<OfficialDraft> }) {
  const [isOpen, setOpen] = useState(false)
  const { fields } = t.connections
  const isShown = isOpen || errorOf('baseUrl') !== undefined || errorOf('version') !== undefined
  return (
    <div>
      <UnstyledButton className={styles.more} onClick={() => setOpen(!isOpen)} aria-expanded={isShown}>
        {fields.advanced}
      </UnstyledButton>
      <Collapse expanded={isShown}>
        <div className={styles.group}>
          <TextInput
            label={fields.baseUrl}
            description={fields.baseUrlHelp}
            placeholder="https://graph.facebook.com"
            value={value.baseUrl}
            onChange={(event) => set({ baseUrl: event.currentTarget.value })}
            error={errorOf('baseUrl')}
          />
          <TextInput
            label={fields.version}
            placeholder="v27.0"
            value={value.version}
            onChange={(event) => set({ version: event.currentTarget.value })}
            error={errorOf('version')}
          />
        </div>
      </Collapse>
    </div>
  )
}
