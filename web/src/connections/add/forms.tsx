import { Button, Radio, Stack } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { ApiError } from '../../api/api-error.ts'
import { type Channel, type CreatedConnection, useSimulatorUrl } from '../../data/connections.ts'
import { t } from '../../text/index.ts'
import { reasonText } from '../../ui/format/error-texts.ts'
import { showError } from '../../ui/overlay/toasts.tsx'
import { PanelButtons } from '../../ui/page/PanelButtons.tsx'
import { SidePanel } from '../../ui/page/SidePanel.tsx'
import type { Draft } from '../../ui/use-draft.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import styles from './forms.module.css'

export interface FormProps {
  /** Returns to the choice of channels. */
  back(): void
  close(): void
  onCreated(response: CreatedConnection): void
}

interface AddFormProps<T> extends FormProps {
  channel: Channel
  draft: Draft<T>
  /** Creates the connection; with `mustAnswer` only if the platform answers, where that is checked first. */
  create(mustAnswer: boolean): Promise<CreatedConnection>
  /** Label of the button. */
  action: string
  disabled?: boolean
  children: ReactNode
}

/** Panel with the settings of a new connection. Errors are shown beside their fields. */
export function AddForm<T>(props: AddFormProps<T>) {
  const { channel, draft, create, action, disabled = false, back, close, onCreated, children } = props
  const start = useMutation({
    mutationFn: create,
    onSuccess: onCreated,
    onError: (error) => reasonOf(error) !== null || draft.applyError(error) || showError(error),
  })
  const reason = reasonOf(start.error)
  return (
    <SidePanel
      title={t.connections.channels[channel].name}
      close={close}
      submit={() => !disabled && start.mutate(true)}
      footer={
        <PanelButtons close={back} leave={t.common.back} isBusy={start.isPending} action={action} disabled={disabled} />
      }
    >
      {children}
      {reason !== null && <CheckFailed reason={reason} save={() => start.mutate(false)} />}
    </SidePanel>
  )
}

const reasonOf = (error: unknown): string | null =>
  error instanceof ApiError && error.code === 'CHECK_FAILED' ? String(error.data.reason) : null

/** The failed check, and a button to connect anyway. */
function CheckFailed({ reason, save }: { reason: string; save(): void }) {
  const { title, help, keepAnyway } = t.connections.checkFailed
  return (
    <div className={styles.failed} role="alert">
      <strong>{title}</strong>
      <span>
        {reasonText(reason)}. {help}
      </span>
      <Button size="compact-sm" variant="default" onClick={save}>
        {keepAnyway}
      </Button>
    </div>
  )
}

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

/** Returns the choice between the platform and the simulator, if one runs, and the address if it is not the platform. */
export function useNetworkChoice(): { address: { baseUrl?: string }; field: ReactNode } {
  const simulatorUrl = useSimulatorUrl(useWorkspaceId())
  const [network, setNetwork] = useState('real')
  const { network: texts } = t.connections
  const field = simulatorUrl !== null && (
    <Radio.Group label={texts.label} value={network} onChange={setNetwork}>
      <Stack gap={6} mt={4}>
        <Radio value="real" label={texts.real} />
        <Radio value="simulated" label={texts.simulated} />
      </Stack>
    </Radio.Group>
  )
  return { address: network === 'simulated' && simulatorUrl !== null ? { baseUrl: simulatorUrl } : {}, field }
}
