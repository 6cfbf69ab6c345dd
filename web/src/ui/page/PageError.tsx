import type { ErrorComponentProps } from '@tanstack/react-router'
import { ApiError } from '../../api/api-error.ts'
import { useOnReconnect } from '../../api/live.ts'
import { t } from '../../text/index.ts'
import { retryFailedLoads } from '../overlay/code-loader.ts'
import { EmptyState } from './EmptyState.tsx'
import { ErrorState } from './ErrorState.tsx'

/** Error in place of a page. A page that could not be loaded is retried when the server is reachable again. */
export function PageError({ error, reset }: ErrorComponentProps) {
  const isOffline = error instanceof ApiError && error.isOffline
  const again = () => {
    retryFailedLoads()
    reset()
  }
  useOnReconnect(() => {
    if (isOffline) again()
  })
  if (!isOffline) return <ErrorState error={error} retry={again} />
  const { pageOffline, pageOfflineHelp } = t.common.failure
  return <EmptyState isPage title={pageOffline} help={pageOfflineHelp} action={{ label: t.common.retry, run: again }} />
}
