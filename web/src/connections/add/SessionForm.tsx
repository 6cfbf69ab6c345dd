import { Checkbox, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useConnectionActions } from '../../data/connections.ts'
import { t } from '../../text/index.ts'
import { showError } from '../../ui/overlay/toasts.tsx'
import { useDraft } from '../../ui/use-draft.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { RiskText, rememberConsent } from '../parts/risk.tsx'
import {
  AddForm,
  type FormProps,
  type Network,
  NetworkChoice,
  textField,
  useCreate,
  useNetworkAddress,
} from './forms.tsx'

/** Form that links a phone as a device. The risk must be accepted before a code is shown. */
export function SessionForm({ onCreated, ...form }: FormProps) {
  const draft = useDraft({ name: '' })
  const [network, setNetwork] = useState<Network>('real')
  const address = useNetworkAddress(network)
  const [isUnderstood, setUnderstood] = useState(false)
  const actions = useConnectionActions(useWorkspaceId())
  const { fields, showCode, risk } = t.connections
  const link = async () => {
    const response = await actions.create({ channel: 'unofficial', name: draft.value.name.trim(), ...address })
    rememberConsent(response.connection.id)
    // The connection exists: if pairing fails to start, its page says so and offers to start again.
    await actions.pair(response.connection.id, { method: 'qr' }).catch(showError)
    return response
  }
  const create = useCreate(draft, link, onCreated)
  return (
    <AddForm
      {...form}
      channel="unofficial"
      run={() => isUnderstood && create.mutate()}
      isBusy={create.isPending}
      action={showCode}
      disabled={!isUnderstood}
    >
      <TextInput
        label={fields.name}
        description={fields.nameHelp}
        data-autofocus
        required
        {...textField(draft, 'name')}
      />
      <NetworkChoice value={network} choose={setNetwork} />
      <RiskText />
      <Checkbox
        label={risk.understood}
        checked={isUnderstood}
        onChange={(event) => setUnderstood(event.currentTarget.checked)}
      />
    </AddForm>
  )
}
