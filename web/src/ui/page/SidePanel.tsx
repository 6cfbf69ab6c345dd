import { Drawer } from '@mantine/core'
import type { FormEvent, ReactNode } from 'react'
import { t } from '../../text/index.ts'
import { isOverPage, useEscape } from '../overlay/escape.ts'
import { FirstFocus } from '../overlay/FirstFocus.tsx'
import { useRestoreFocus } from '../overlay/restore-focus.ts'
import styles from './SidePanel.module.css'

interface SidePanelProps {
  title: string
  close(): void
  children: ReactNode
  /** Buttons, fixed at the bottom. */
  footer?: ReactNode
  /** Makes the panel a form: Enter in a field and buttons of type `submit` call this. */
  submit?: () => void
  size?: number
}

/** Panel that slides in from the right to create or edit something, while the list stays visible. */
export function SidePanel({ title, close, children, footer, submit, size = 480 }: SidePanelProps) {
  useRestoreFocus(true)
  useEscape(true, close, isOverPage)
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    submit?.()
  }
  return (
    <Drawer
      opened
      onClose={close}
      closeOnEscape={false}
      position="right"
      size={size}
      title={title}
      padding={0}
      closeButtonProps={{ 'aria-label': t.common.close }}
      transitionProps={{ duration: 120 }}
      overlayProps={{ backgroundOpacity: 0.25 }}
      classNames={{ header: styles.header, title: styles.title, content: styles.content, body: styles.body }}
    >
      <form className={styles.form} onSubmit={onSubmit} noValidate>
        <div className={styles.fields}>{children}</div>
        {footer !== undefined && <div className={styles.footer}>{footer}</div>}
      </form>
      <FirstFocus />
    </Drawer>
  )
}
