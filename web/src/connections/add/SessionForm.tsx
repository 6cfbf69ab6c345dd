import { Checkbox, Radio, Stack, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { useConnectionActions, useSimulatorUrl } from '../../data/connections.ts'
import { t } from '../../text/index.ts'
import { showError } from '../../ui/overlay/toasts.tsx'
import { PanelButtons } from '../../ui/page/PanelButtons.tsx'
import { SidePanel } from '../../ui/page/SidePanel.tsx'
import { useDraft } from '../../ui/use-draft.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { RiskText } from '../parts/RiskText.tsx'
import { rememberConsent } from '../parts/risk.ts'
import type { FormProps } from './form-props.ts'

/** Form that links a phone as a device. The risk must be accepted before a code is shown. */
export function SessionForm({ back, close, onCreated }: FormProps) {
  const workspaceId = useWorkspaceId()
  const simulatorUrl = useSimulatorUrl(workspaceId)
  const draft = useDraft({ name: '', network: 'real' })
  const [isUnderstood, setUnderstood] = useState(false)
  const actions = useConnectionActions(workspaceId)
  const { fields, channels, showCode, network } = t.connections
  const { value, set, errorOf } = draft
  const create = useMutation({
    mutationFn: async () => {
      const baseUrl = value.network === 'simulated' && simulatorUrl !== null ? { baseUrl: simulatorUrl } : {}
      const response = await actions.create({ channel: 'unofficial', name: value.name.trim(), ...baseUrl })
      rememberConsent(response.connection.id)
      // The connection exists: if pairing fails to start, its page says so and offers to start again.
      await actions.pair(response.connection.id, { method: 'qr' }).catch(showError)
      return response
    },
    onSuccess: onCreated,
    onError: (error) => draft.applyError(error) || showError(error),
  })
  return (
    <SidePanel
      title={channels.unofficial.name}
      close={close}
      submit={() => isUnderstood && create.mutate()}
      footer={
        <PanelButtons
          close={back}
          leave={t.common.back}
          isBusy={create.isPending}
          action={showCode}
          disabled={!isUnderstood}
        />
      }
    >
      <TextInput
        label={fields.name}
        description={fields.nameHelp}
        data-autofocus
        required
        value={value.name}
        onChange={(event) => set({ name: event.currentTarget.value })}
        error={errorOf('name')}
        autoComplete="off"
      />
      {simulatorUrl !== null && (
        <Radio.Group label={network.label} value={value.network} onChange={(chosen) => set({ network: chosen })}>
          <Stack gap={6} mt={4}>
            <Radio value="real" label={network.real} />
            <Radio value="simulated" label={network.simulated} />
          </Stack>
        </Radio.Group>
      )}
      <RiskText />
      <Checkbox
        label={t.connections.risk.understood}
        checked={isUnderstood}
        onChange={(event) => setUnderstood(event.currentTarget.checked)}
      />
    </SidePanel>
  )
}
