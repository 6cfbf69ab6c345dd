import { Button, Group, Text, TextInput } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { t } from '../../text/index.ts'
import { Dialog } from './Dialog.tsx'

interface ConfirmProps {
  title: string
  children: ReactNode
  /** Label of the button. */
  action: string
  /** Text that must be typed to confirm, for irreversible actions. */
  confirmText?: string
  /** Whether the action can be undone, so that the button is not a warning. */
  isReversible?: boolean
  run(): Promise<unknown>
  close(): void
}

/** Confirms an action that cannot be undone. Reversible actions run at once, with undo. */
export function Confirm({ title, children, action, confirmText, isReversible = false, run, close }: ConfirmProps) {
  const [typed, setTyped] = useState('')
  const [isRunning, setRunning] = useState(false)
  const mayRun = confirmText === undefined || typed.trim() === confirmText
  const submit = async () => {
    if (!mayRun) return
    setRunning(true)
    await run().finally(() => setRunning(false))
  }
  return (
    <Dialog close={close} title={title}>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          void submit()
        }}
      >
        <Text size="md" component="div">
          {children}
        </Text>
        {confirmText !== undefined && (
          <TextInput
            mt="md"
            label={t.common.typeToConfirm({ word: confirmText })}
            value={typed}
            onChange={(event) => setTyped(event.currentTarget.value)}
            data-autofocus
            autoComplete="off"
          />
        )}
        <Group justify="flex-end" mt="lg" gap="xs">
          <Button
            variant="default"
            onClick={close}
            {...(!isReversible && confirmText === undefined && { 'data-autofocus': true })}
          >
            {t.common.cancel}
          </Button>
          <Button
            type="submit"
            {...(isReversible ? { 'data-autofocus': true } : { color: 'red.9' })}
            disabled={!mayRun}
            loading={isRunning}
          >
            {action}
          </Button>
        </Group>
      </form>
    </Dialog>
  )
}
