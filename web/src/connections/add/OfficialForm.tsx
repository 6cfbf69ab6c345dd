import { Collapse, PasswordInput, TextInput, UnstyledButton } from '@mantine/core'
import { useState } from 'react'
import { type NewConnection, useConnectionActions } from '../../data/connections.ts'
import { t } from '../../text/index.ts'
import { type Draft, useDraft } from '../../ui/use-draft.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import styles from './forms.module.css'
import { AddForm, type FormProps, filledFields, textField, useNetworkChoice } from './forms.tsx'

const blank = { name: '', accessToken: '', appSecret: '', appId: '', baseUrl: '', version: '' }

/** Begins to connect a number on the official platform. The number is chosen afterwards, on the connection's page. */
export function OfficialForm(form: FormProps) {
  const draft = useDraft(blank)
  const { fields, channels, setup } = t.connections
  const { address, field } = useNetworkChoice()
  const { create } = useConnectionActions(useWorkspaceId())
  return (
    <AddForm
      {...form}
      channel="waba"
      draft={draft}
      create={() => create({ channel: 'waba', ...address, ...filledFields(draft.value) } as NewConnection)}
      action={setup.continue}
    >
      <p className={styles.help}>{channels.waba.where}</p>
      <TextInput
        label={fields.name}
        description={fields.nameHelp}
        data-autofocus
        required
        {...textField(draft, 'name')}
      />
      <PasswordInput
        label={fields.accessToken}
        description={fields.accessTokenHelp}
        required
        {...textField(draft, 'accessToken')}
      />
      <PasswordInput
        label={fields.appSecret}
        description={fields.appSecretHelp}
        required
        {...textField(draft, 'appSecret')}
      />
      {field}
      <Advanced draft={draft} />
    </AddForm>
  )
}

function Advanced({ draft }: { draft: Draft<typeof blank> }) {
  const [isOpen, setOpen] = useState(false)
  const { fields } = t.connections
  const isShown =
    isOpen || (['appId', 'baseUrl', 'version'] as const).some((field) => draft.errorOf(field) !== undefined)
  const text = (name: keyof typeof blank) => ({ ...textField(draft, name), autoComplete: undefined })
  return (
    <div>
      <UnstyledButton className={styles.more} onClick={() => setOpen(!isOpen)} aria-expanded={isShown}>
        {fields.advanced}
      </UnstyledButton>
      <Collapse expanded={isShown}>
        <div className={styles.group}>
          <TextInput label={fields.appId} description={fields.appIdHelp} {...text('appId')} />
          <TextInput
            label={fields.baseUrl}
            description={fields.baseUrlHelp}
            placeholder="https://graph.facebook.com"
            {...text('baseUrl')}
          />
          <TextInput label={fields.version} placeholder="v27.0" {...text('version')} />
        </div>
      </Collapse>
    </div>
  )
}
