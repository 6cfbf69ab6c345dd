import { Collapse, PasswordInput, Radio, Stack, TextInput, UnstyledButton } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { type NewConnection, useConnectionActions, useSimulatorUrl } from '../../data/connections.ts'
import { t } from '../../text/index.ts'
import { showError } from '../../ui/overlay/toasts.tsx'
import { PanelButtons } from '../../ui/page/PanelButtons.tsx'
import { SidePanel } from '../../ui/page/SidePanel.tsx'
import { type Draft, useDraft } from '../../ui/use-draft.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { filledFields } from './filled-fields.ts'
import type { FormProps } from './form-props.ts'
import styles from './forms.module.css'

const blank = { name: '', accessToken: '', appSecret: '', appId: '', baseUrl: '', version: '' }
type OfficialDraft = typeof blank

/** Begins to connect a number on the official platform. The number is chosen afterwards, on the connection's page. */
export function OfficialForm({ back, close, onCreated }: FormProps) {
  const draft = useDraft<OfficialDraft>(blank)
  const { value, set, errorOf } = draft
  const { fields, channels, setup, network } = t.connections
  const workspaceId = useWorkspaceId()
  const simulatorUrl = useSimulatorUrl(workspaceId)
  const [platform, setPlatform] = useState('real')
  const { create } = useConnectionActions(workspaceId)
  const start = useMutation({
    mutationFn: () => {
      const simulated = platform === 'simulated' && simulatorUrl !== null ? { baseUrl: simulatorUrl } : {}
      return create({ channel: 'waba', ...simulated, ...filledFields(value) } as NewConnection)
    },
    onSuccess: onCreated,
    onError: (error) => draft.applyError(error) || showError(error),
  })
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
      submit={() => start.mutate()}
      footer={<PanelButtons close={back} leave={t.common.back} isBusy={start.isPending} action={setup.continue} />}
    >
      <p className={styles.help}>{channels.waba.where}</p>
      <TextInput label={fields.name} description={fields.nameHelp} data-autofocus required {...text('name')} />
      <PasswordInput
        label={fields.accessToken}
        description={fields.accessTokenHelp}
        required
        {...text('accessToken')}
      />
      <PasswordInput label={fields.appSecret} description={fields.appSecretHelp} required {...text('appSecret')} />
      {simulatorUrl !== null && (
        <Radio.Group label={network.label} value={platform} onChange={setPlatform}>
          <Stack gap={6} mt={4}>
            <Radio value="real" label={network.real} />
            <Radio value="simulated" label={network.simulated} />
          </Stack>
        </Radio.Group>
      )}
      <Advanced draft={draft} />
    </SidePanel>
  )
}

function Advanced({ draft: { value, set, errorOf } }: { draft: Draft<OfficialDraft> }) {
  const [isOpen, setOpen] = useState(false)
  const { fields } = t.connections
  const isShown = isOpen || (['appId', 'baseUrl', 'version'] as const).some((field) => errorOf(field) !== undefined)
  return (
    <div>
      <UnstyledButton className={styles.more} onClick={() => setOpen(!isOpen)} aria-expanded={isShown}>
        {fields.advanced}
      </UnstyledButton>
      <Collapse expanded={isShown}>
        <div className={styles.group}>
          <TextInput
            label={fields.appId}
            description={fields.appIdHelp}
            value={value.appId}
            onChange={(event) => set({ appId: event.currentTarget.value })}
            error={errorOf('appId')}
          />
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
