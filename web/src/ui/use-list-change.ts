import { type QueryKey, useQueryClient } from '@tanstack/react-query'
import { showError } from './overlay/toasts.tsx'

/** Changes a cached list optimistically; reverts and shows the error on refusal. Returns whether it succeeded. */
export function useListChange<T>(queryKey: QueryKey) {
  const queries = useQueryClient()
  return async (next: (before: T[]) => T[], call: () => Promise<unknown>): Promise<boolean> => {
    await queries.cancelQueries({ queryKey })
    const before = queries.getQueryData<T[]>(queryKey)
    queries.setQueryData<T[]>(queryKey, (list) => list && next(list))
    try {
      await call()
      return true
    } catch (error) {
      queries.setQueryData(queryKey, before)
      showError(error)
      return false
    } finally {
      void queries.invalidateQueries({ queryKey })
    }
  }
}
