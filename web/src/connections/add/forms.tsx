import { Radio, Stack } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { type Channel, type CreatedConnection, useSimulatorUrl } from '../../data/connections.ts'
import { t } from '../../text/index.ts'
import { showError } from '../../ui/overlay/toasts.tsx'
import { PanelButtons } from '../../ui/page/PanelButtons.tsx'
import { SidePanel } from '../../ui/page/SidePanel.tsx'
import type { Draft } from '../../ui/use-draft.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'

export interface FormProps {
  /** Returns to the choice of channels. */
  back(): void
  close(): void
  onCreated(response: CreatedConnection): void
}

/** Creates a connection from a draft. Errors are shown beside their fields. */
export const useCreate = <T extends object>(
  draft: Draft<T>,
  create: () => Promise<CreatedConnection>,
  onCreated: FormProps['onCreated'],
) =>
  useMutation({
    mutationFn: create,
    onSuccess: onCreated,
    onError: (error) => draft.applyError(error) || showError(error),
  })

interface AddFormProps extends Omit<FormProps, 'onCreated'> {
  channel: Channel
  /** Label of the button. */
  action: string
  run(): void
  isBusy: boolean
  disabled?: boolean
  children: ReactNode
}

/** Panel with the settings of a new connection. */
export const AddForm = ({ channel, back, close, action, run, isBusy, disabled = false, children }: AddFormProps) => (
  <SidePanel
    title={t.connections.channels[channel].name}
    close={close}
    submit={run}
    footer={<PanelButtons close={back} leave={t.common.back} isBusy={isBusy} action={action} disabled={disabled} />}
  >
    {children}
  </SidePanel>
)

/** Returns the props of a text field. */
export const textField = <Name extends string>(draft: Draft<Record<NoInfer<Name>, string>>, name: Name) => ({
  value: draft.value[name],
  error: draft.errorOf(name),
  onChange: (event: { currentTarget: { value: string } }) =>
    draft.set({ [name]: event.currentTarget.value } as Partial<Record<Name, string>>),
  autoComplete: 'off',
})

/** Returns the trimmed values without empty fields. */
export function filledFields<T extends Record<string, string>>(fields: T): Partial<T> {
  const entries = Object.entries(fields).map(([name, value]) => [name, value.trim()] as const)
  return Object.fromEntries(entries.filter(([, value]) => value !== '')) as Partial<T>
}

export type Network = 'real' | 'simulated'

/** Choice between the platform and the simulator, if one runs. */
export function NetworkChoice({ value, choose }: { value: Network; choose(network: Network): void }) {
  const simulatorUrl = useSimulatorUrl(useWorkspaceId())
  const { network } = t.connections
  if (simulatorUrl === null) return null
  return (
    <Radio.Group label={network.label} value={value} onChange={(chosen) => choose(chosen as Network)}>
      <Stack gap={6} mt={4}>
        <Radio value="real" label={network.real} />
        <Radio value="simulated" label={network.simulated} />
      </Stack>
    </Radio.Group>
  )
}

/** Returns the address of the chosen network; nothing for the platform, which is the default. */
export function useNetworkAddress(network: Network): { baseUrl?: string } {
  const simulatorUrl = useSimulatorUrl(useWorkspaceId())
  return network === 'simulated' && simulatorUrl !== null ? { baseUrl: simulatorUrl } : {}
}
