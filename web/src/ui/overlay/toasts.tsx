import { Button } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { t } from '../../text/index.ts'
import { errorSentence } from '../format/error-texts.ts'

const undoMs = 8000
const toastOptions = () => ({ withBorder: true, closeButtonProps: { 'aria-label': t.common.close } })

/** Confirms an action. */
export function showToast(message: string): void {
  notifications.show({ message, ...toastOptions() })
}

/** Shows an error. */
export function showError(error: unknown): void {
  notifications.show({ title: t.common.failure.title, message: errorSentence(error), color: 'red', ...toastOptions() })
}

/** Confirms an action with an undo button, for 8 seconds by default. */
export function showUndoToast(message: string, undo: () => void, autoClose = undoMs): void {
  const id = crypto.randomUUID()
  const run = () => {
    notifications.hide(id)
    undo()
  }
  notifications.show({
    id,
    ...toastOptions(),
    autoClose,
    message: (
      <span style={{ display: 'flex', alignItems: 'center', gap: 12, justifyContent: 'space-between' }}>
        {message}
        <Button size="compact-sm" variant="subtle" onClick={run} style={{ flex: 'none' }}>
          {t.common.undo}
        </Button>
      </span>
    ),
  })
}
