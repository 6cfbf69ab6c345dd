import { Button } from '@mantine/core'
import { t } from '../../text/index.ts'

interface PanelButtonsProps {
  close(): void
  /** Label of the secondary button, if not "Cancel". */
  leave?: string
  /** Label of the submit button. */
  action: string
  isBusy: boolean
  disabled?: boolean
}

/** Buttons of a form in a panel or dialog. */
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
