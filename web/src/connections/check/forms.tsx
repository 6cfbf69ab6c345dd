import { Button, PasswordInput, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import type { FormEvent } from 'react'
import { useState } from 'react'
import { type Check, useCheckActions } from '../../data/connection/check.ts'
import { type Connection, useConnectionActions } from '../../data/connections.ts'
import { t } from '../../text/index.ts'
import { showError } from '../../ui/overlay/toasts.tsx'
import { useDraft } from '../../ui/use-draft.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import own from './check.module.css'

interface AccessFormProps {
  connection: Connection
  field: 'accessToken' | 'appSecret'
  check(): Promise<Check>
}

/** Replaces the access token or the app secret, then checks again. */
export function AccessForm({ connection, field, check }: AccessFormProps) {
  const workspaceId = useWorkspaceId()
  const draft = useDraft({ [field]: '' } as Record<typeof field, string>)
  const { change } = useConnectionActions(workspaceId)
  const save = useMutation({
    mutationFn: async () => {
      await change(connection.id, { [field]: draft.value[field].trim() })
      await check()
    },
    onSuccess: () => draft.reset({ [field]: '' } as Record<typeof field, string>),
    onError: (error) => draft.applyError(error) || showError(error),
  })
  return (
    <form className={own.form} onSubmit={submitting(() => save.mutate())} noValidate>
      <PasswordInput
        className={own.field}
        label={t.connections.fields[field]}
        value={draft.value[field]}
        error={draft.errorOf(field)}
        onChange={(event) => draft.set({ [field]: event.currentTarget.value } as Record<typeof field, string>)}
        autoComplete="off"
        required
      />
      <Button type="submit" size="compact-md" loading={save.isPending}>
        {t.connections.setup.saveAndCheck}
      </Button>
    </form>
  )
}

/** Registers the number with a PIN, which is only passed on. */
export function RegisterForm({ connection }: { connection: Connection }) {
  const { register } = useCheckActions(useWorkspaceId(), connection.id)
  const draft = useDraft({ pin: '' })
  const { pin, help, action } = t.connections.setup.register
  const save = useMutation({
    mutationFn: () => register(draft.value.pin.trim()),
    onSuccess: () => draft.reset({ pin: '' }),
    onError: (error) => draft.applyError(error) || showError(error),
  })
  return (
    <form className={own.form} onSubmit={submitting(() => save.mutate())} noValidate>
      <TextInput
        className={own.field}
        label={pin}
        description={help}
        value={draft.value.pin}
        error={draft.errorOf('pin')}
        onChange={(event) => draft.set({ pin: event.currentTarget.value })}
        inputMode="numeric"
        maxLength={6}
        autoComplete="off"
        required
      />
      <Button type="submit" size="compact-md" loading={save.isPending}>
        {action}
      </Button>
    </form>
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

/** State of an input that is not part of a larger draft. */
export function useInput(initial = '') {
  const [value, setValue] = useState(initial)
  return {
    value,
    onChange: (event: { currentTarget: { value: string } }) => setValue(event.currentTarget.value),
  }
}
