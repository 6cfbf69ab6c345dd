import type { ErrorComponentProps } from '@tanstack/react-router'
import { Failure } from '../../api/failure.ts'
import { useBackOnline } from '../../api/live.ts'
import { t } from '../../text/index.ts'
import { tryCodeAgain } from '../overlay/code.ts'
import { Empty } from './Empty.tsx'
import { ErrorNotice } from './ErrorNotice.tsx'

/** In place of a page that could not be drawn. One that could not be fetched comes by itself once the service is back. */
export function PageFailure({ error, reset }: ErrorComponentProps) {
  const isOffline = error instanceof Failure && error.isOffline
  const again = () => {
    tryCodeAgain()
    reset()
  }
  useBackOnline(() => {
    if (isOffline) again()
  })
  if (!isOffline) return <ErrorNotice error={error} retry={again} />
  const { pageOffline, pageOfflineHelp } = t.common.failure
  return <Empty isPage title={pageOffline} help={pageOfflineHelp} action={{ label: t.common.retry, run: again }} />
}
