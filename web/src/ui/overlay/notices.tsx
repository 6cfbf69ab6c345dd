import { Button } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { t } from '../../text/index.ts'
import { sentenceFor } from '../format/failure-words.ts'

const undoMs = 8000
const look = () => ({ withBorder: true, closeButtonProps: { 'aria-label': t.common.close } })

/** Shows that something was done. */
export function say(message: string): void {
  notifications.show({ message, ...look() })
}

/** Shows that something could not be done, and why. */
export function complain(error: unknown): void {
  notifications.show({ title: t.common.failure.title, message: sentenceFor(error), color: 'red', ...look() })
}

/** Shows what was done, with an undo button for 8 seconds, unless it is to be longer. */
export function sayWithUndo(message: string, undo: () => void, autoClose = undoMs): void {
  const id = crypto.randomUUID()
  const run = () => {
    notifications.hide(id)
    undo()
  }
  notifications.show({
    id,
    ...look(),
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
