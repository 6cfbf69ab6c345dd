import { useRouter } from '@tanstack/react-router'
import { useCallback, useMemo, useSyncExternalStore } from 'react'

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

/** Makes of what the address says now what it is to say. */
export type ChangeSearch<T> = (next: (before: T) => T, how?: { replace: boolean }) => void

/**
 * Changes what the address says of the page that is open: always from what it says by then, and never from what is drawn, so
 * that of two changes one right after the other neither undoes the other.
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
