import { Button, PasswordInput, TextInput, type TextInputProps } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import type { FormEvent } from 'react'
import { type Check, useCheckActions } from '../../data/connection/check.ts'
import { type Connection, useConnectionActions } from '../../data/connections.ts'
import { t } from '../../text/index.ts'
import { showError } from '../../ui/overlay/toasts.tsx'
import { useDraft } from '../../ui/use-draft.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import own from './check.module.css'

interface StepFormProps extends Pick<TextInputProps, 'label' | 'description' | 'inputMode' | 'maxLength'> {
  /** Name of the value at the server. */
  field: string
  isSecret?: boolean
  /** Label of the button. */
  action: string
  send(value: string): Promise<unknown>
}

/** A form of one field, which is emptied when it has worked. */
function StepForm({ field, isSecret = false, action, send, ...input }: StepFormProps) {
  const draft = useDraft<Record<string, string>>({ [field]: '' })
  const { [field]: value = '' } = draft.value
  const save = useMutation({
    mutationFn: () => send(value.trim()),
    onSuccess: () => draft.reset({ [field]: '' }),
    onError: (error) => draft.applyError(error) || showError(error),
  })
  const Field = isSecret ? PasswordInput : TextInput
  return (
    <form className={own.form} onSubmit={submitting(() => save.mutate())} noValidate>
      <Field
        {...input}
        className={own.field}
        value={value}
        error={draft.errorOf(field)}
        onChange={(event) => draft.set({ [field]: event.currentTarget.value })}
        autoComplete="off"
        required
      />
      <Button type="submit" size="compact-md" loading={save.isPending}>
        {action}
      </Button>
    </form>
  )
}

interface AccessFormProps {
  connection: Connection
  field: 'accessToken' | 'appSecret'
  check(): Promise<Check>
}

/** Replaces the access token or the app secret, then checks again. */
export function AccessForm({ connection, field, check }: AccessFormProps) {
  const { change } = useConnectionActions(useWorkspaceId())
  const { fields, setup } = t.connections
  const send = async (value: string) => {
    await change(connection.id, { [field]: value })
    await check()
  }
  return <StepForm field={field} isSecret label={fields[field]} action={setup.saveAndCheck} send={send} />
}

/** Registers the number with a PIN, which is only passed on. */
export function RegisterForm({ connection }: { connection: Connection }) {
  const { register } = useCheckActions(useWorkspaceId(), connection.id)
  const { pin, help, action } = t.connections.setup.register
  return (
    <StepForm
      field="pin"
      label={pin}
      description={help}
      inputMode="numeric"
      maxLength={6}
      action={action}
      send={register}
    />
  )
}

interface StepButtonProps {
  connection: Connection
  /** `resume` registers the callback URL with a partner. */
  kind: 'subscribe' | 'resume' | 'history'
  check(): Promise<Check>
}

/** Performs a step that needs no input. */
export function StepButton({ connection, kind, check }: StepButtonProps) {
  const workspaceId = useWorkspaceId()
  const { subscribe, requestHistory } = useCheckActions(workspaceId, connection.id)
  const { resume } = useConnectionActions(workspaceId)
  const { subscribe: subscribeText, requestHistory: historyText } = t.connections.setup
  const run = useMutation({
    mutationFn: async () => {
      if (kind === 'subscribe') return subscribe()
      if (kind === 'history') return requestHistory()
      await resume(connection.id)
      return check()
    },
    onError: showError,
  })
  return (
    <div className={own.form}>
      <Button size="compact-md" onClick={() => run.mutate()} loading={run.isPending}>
        {kind === 'history' ? historyText : subscribeText}
      </Button>
    </div>
  )
}

export const submitting = (run: () => void) => (event: FormEvent) => {
  event.preventDefault()
  run()
}
