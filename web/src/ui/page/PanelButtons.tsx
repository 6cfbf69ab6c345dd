import { Button } from '@mantine/core'
import { t } from '../../text/index.ts'

interface PanelButtonsProps {
  close(): void
  /** What leads out of it, where that is not to cancel. */
  leave?: string
  /** What sending the form does, in a word. */
  action: string
  isBusy: boolean
  disabled?: boolean
}

/** The buttons of a form in a panel or a dialog: out of it, or on with it. */
export function PanelButtons({ close, leave = t.common.cancel, action, isBusy, disabled = false }: PanelButtonsProps) {
  return (
    <>
      <Button variant="default" onClick={close}>
        {leave}
      </Button>
      <Button type="submit" loading={isBusy} disabled={disabled}>
        {action}
      </Button>
    </>
  )
}
