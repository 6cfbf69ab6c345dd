import { Modal, type ModalProps } from '@mantine/core'
import { t } from '../../text/index.ts'
import { isOverPage, useEscape } from './escape.ts'
import { FirstFocus } from './FirstFocus.tsx'
import { useRestoreFocus } from './restore-focus.ts'

interface DialogProps extends Omit<ModalProps, 'opened' | 'onClose' | 'closeButtonProps'> {
  close(): void
}

/** Dialog, open while mounted. Takes the focus and restores it when closed. */
export function Dialog({ close, closeOnEscape = true, children, ...modalProps }: DialogProps) {
  useRestoreFocus(true)
  useEscape(true, close, (target) => closeOnEscape && isOverPage(target))
  return (
    <Modal
      opened
      onClose={close}
      closeOnEscape={false}
      closeButtonProps={{ 'aria-label': t.common.close }}
      // React also sends events to the panel that opened the dialog, which would save it.
      onSubmit={(event) => event.stopPropagation()}
      {...modalProps}
    >
      {children}
      <FirstFocus />
    </Modal>
  )
}
