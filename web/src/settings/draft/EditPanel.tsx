import { Button } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { t } from '../../text/index.ts'
import { Confirm } from '../../ui/overlay/Confirm.tsx'
import { PanelButtons } from '../../ui/page/PanelButtons.tsx'
import { SidePanel } from '../../ui/page/SidePanel.tsx'

/** What is asked before an item is deleted. */
interface Removal {
  title: string
  help: string
  /** Text that must be typed to confirm. */
  confirmText?: string
  run(): Promise<unknown>
}

interface EditPanelProps {
  title: string
  close(): void
  size?: number
  save: { mutate(): void; isPending: boolean }
  /** Label of the button that saves, if not "Save". */
  action?: string
  /** Deletes a saved item: at once and with undo, which closes the panel, or after a confirmation. */
  remove?: Removal | (() => void) | false
  children: ReactNode
}

/** Panel that creates or edits an item of a list, which it may also delete. */
export function EditPanel(props: EditPanelProps) {
  const { title, close, size = 480, save, action = t.common.save, remove = false, children } = props
  const [isConfirming, setConfirming] = useState(false)
  const startRemoval = () => {
    if (typeof remove !== 'function') return setConfirming(true)
    close()
    remove()
  }
  return (
    <SidePanel
      title={title}
      close={close}
      size={size}
      submit={() => save.mutate()}
      footer={
        <>
          {remove !== false && (
            <Button variant="default" c="var(--bad)" mr="auto" onClick={startRemoval}>
              {t.common.delete}
            </Button>
          )}
          <PanelButtons close={close} action={action} isBusy={save.isPending} />
        </>
      }
    >
      {children}
      {isConfirming && typeof remove === 'object' && (
        <Confirm
          title={remove.title}
          action={t.common.delete}
          {...(remove.confirmText !== undefined && { confirmText: remove.confirmText })}
          run={remove.run}
          close={() => setConfirming(false)}
        >
          {remove.help}
        </Confirm>
      )}
    </SidePanel>
  )
}
