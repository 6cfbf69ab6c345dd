import { type QueryKey, useQueryClient } from '@tanstack/react-query'
import { showError, showUndoToast } from '../../ui/overlay/toasts.tsx'
import { useListChange } from '../../ui/use-list-change.ts'

interface RemovalOptions<T> {
  remove(item: T): Promise<unknown>
  /** Creates the item again. */
  restore(item: T): Promise<unknown>
  /** Returns the text that confirms the removal. */
  done(item: T): string
}

/** Returns a function that removes an item of a cached list at once, with undo. */
export function useRemoval<T extends { id: string }>(
  queryKey: QueryKey,
  { remove, restore, done }: RemovalOptions<T>,
): (item: T) => Promise<void> {
  const queries = useQueryClient()
  const change = useListChange<T>(queryKey)
  return async (item) => {
    const isRemoved = await change(
      (list) => list.filter(({ id }) => id !== item.id),
      () => remove(item),
    )
    if (!isRemoved) return
    showUndoToast(done(item), () => {
      void restore(item)
        .catch(showError)
        .then(() => queries.invalidateQueries({ queryKey }))
    })
  }
}
