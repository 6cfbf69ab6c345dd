import { Button } from '@mantine/core'
import { t } from '../../text/index.ts'

/** The buttons of each form that connects a number. */
export function FormFooter({ back, isBusy, action, disabled = false }: FormFooterProps) {
  return (
    <>
      <Button variant="default" onClick={back}>
        {t.common.back}
      </Button>
      <Button type="submit" loading={isBusy} disabled={disabled}>
        {action}
      </Button>
    </>
  )
}

interface FormFooterProps {
  back(): void
  isBusy: boolean
  action: string
  disabled?: boolean
}
