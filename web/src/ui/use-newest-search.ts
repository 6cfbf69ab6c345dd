import { useRouter } from '@tanstack/react-router'
import { useCallback, useMemo, useSyncExternalStore } from 'react'

/**
 * Returns the query parameters of the page at `pathname` as soon as they change. The router renders them later, and a
 * choice in between would start from old ones. `drawn` is what the router rendered, returned for addresses of other
 * pages.
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

/** Computes new query parameters from the current ones. */
export type ChangeSearch<T> = (next: (before: T) => T, how?: { replace: boolean }) => void

/**
 * Changes the query parameters of the open page, always based on the current address and not on the rendered one, so
 * that two quick changes do not overwrite each other.
 */
export function useChangeSearch<T extends object>(read: (search: Record<string, unknown>) => T): ChangeSearch<T> {
  const router = useRouter()
  return useCallback<ChangeSearch<T>>(
    (next, { replace } = { replace: false }) => {
      const after: object = next(read(router.options.parseSearch(router.history.location.search)))
      void router.navigate({ to: '.', search: read({ ...after }), replace })
    },
    [router, read],
  )
}
