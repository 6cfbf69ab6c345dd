import { Button, Group, PasswordInput, Stack, Text, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { t } from '../text/index.ts'
import { Dialog } from '../ui/overlay/Dialog.tsx'
import { showError } from '../ui/overlay/toasts.tsx'
import type { Draft } from '../ui/use-draft.ts'

interface DialogFormProps<T, R> {
  draft: Draft<T>
  send(value: T): Promise<R>
  done(response: R): unknown
  title: string
  help: string
  /** Label of the button. */
  action: string
  /** Whether the button is a warning. */
  isDanger?: boolean
  closeOnClickOutside?: boolean
  close(): void
  children: ReactNode
}

/** Dialog with a form. Errors are shown beside their fields. */
export function DialogForm<T, R>(props: DialogFormProps<T, R>) {
  const { draft, send, done, title, help, action, isDanger = false, closeOnClickOutside = true, close } = props
  const save = useMutation({
    mutationFn: () => send(draft.value),
    onSuccess: done,
    onError: (error) => draft.applyError(error) || showError(error),
  })
  return (
    <Dialog close={close} title={title} closeOnClickOutside={closeOnClickOutside}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          save.mutate()
        }}
        noValidate
      >
        <Stack gap="md">
          <Text size="md">{help}</Text>
          {props.children}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={close}>
              {t.common.cancel}
            </Button>
            <Button type="submit" {...(isDanger && { color: 'red' })} loading={save.isPending}>
              {action}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  )
}

/** Asks for the current password. */
export function CurrentPassword<T extends { password: string }>({ draft }: { draft: Draft<T> }) {
  return (
    <PasswordInput
      label={t.profile.currentPassword}
      autoComplete="current-password"
      value={draft.value.password}
      onChange={(event) => draft.set({ password: event.currentTarget.value } as Partial<T>)}
      error={draft.errorOf('password')}
      visibilityToggleButtonProps={{ 'aria-label': t.profile.showPassword }}
      data-autofocus
    />
  )
}

interface CodeFieldProps<T> {
  draft: Draft<T>
  help: string
  inputMode?: 'numeric'
  'data-autofocus'?: true
}

/** Asks for a code of the authenticator app, or a recovery code. */
export function CodeField<T extends { code: string }>({ draft, help, ...props }: CodeFieldProps<T>) {
  return (
    <TextInput
      label={t.profile.twoFactor.code}
      description={help}
      autoComplete="one-time-code"
      maxLength={40}
      value={draft.value.code}
      onChange={(event) => draft.set({ code: event.currentTarget.value } as Partial<T>)}
      error={draft.errorOf('code')}
      {...props}
    />
  )
}
