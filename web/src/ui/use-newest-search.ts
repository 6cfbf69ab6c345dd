import { useRouter } from '@tanstack/react-router'
import { useMemo, useSyncExternalStore } from 'react'

/**
 * What the address says of the page at `pathname`, as soon as it says so. The router draws it a moment later, and whoever
 * chooses in that moment would choose from what stood there before. `drawn` is what it draws, for an address of another page.
 */
export function useNewestSearch<T>(pathname: string, drawn: T, read: (search: Record<string, unknown>) => T): T {
  const router = useRouter()
  const { subscribe } = router.history
  const location = useSyncExternalStore(subscribe, () => router.history.location)
  const isHere = location.pathname.replace(/\/$/, '') === pathname.replace(/\/$/, '')
  return useMemo(
    () => (isHere ? read(router.options.parseSearch(location.search)) : drawn),
    [isHere, read, router, location.search, drawn],
  )
}
