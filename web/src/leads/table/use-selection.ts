import { useMemo, useState } from 'react'
import type { BulkChangeInput } from '../../data/bulk-changes.ts'
import type { LeadQuery } from '../../data/leads.ts'
import { t } from '../../text/index.ts'
import type { LeadActions } from '../fields/change.ts'

interface SelectionState {
  ids: ReadonlySet<string>
  /** All leads that match the query, if there are more than can be ticked; null if the ticked ones are meant. */
  allMatching: { query: LeadQuery; total: number } | null
  /** Whether all matching leads are selected, instead of the ticked ones. */
  isAllMatching: boolean
  /** Bulk change to be confirmed. */
  pendingChange: BulkChangeInput | null
}

export type Selection = ReturnType<typeof useSelection>

const none: SelectionState = { ids: new Set(), allMatching: null, isAllMatching: false, pendingChange: null }

/** Returns the selected leads and their number, and actions on the selection. */
export function useSelection() {
  const [state, setState] = useState(none)
  const actions = useMemo(() => {
    const set = (changes: Partial<SelectionState>) => setState((before) => ({ ...before, ...changes }))
    // Ticking a row ends the selection of all matching leads.
    const tick = (next: (before: ReadonlySet<string>) => Iterable<string>) =>
      setState((before) => ({ ...before, ids: new Set(next(before.ids)), allMatching: null, isAllMatching: false }))
    return {
      toggle: (id: string) =>
        tick((before) => (before.has(id) ? [...before].filter((one) => one !== id) : [...before, id])),
      add: (more: readonly string[]) => tick((before) => [...before, ...more]),
      set: (ids: readonly string[]) => tick(() => ids),
      clear: () => setState(none),
      setAllMatching: (allMatching: SelectionState['allMatching']) => set({ allMatching, isAllMatching: false }),
      selectAllMatching: () => set({ isAllMatching: true }),
      confirmChange: (pendingChange: BulkChangeInput | null) => set({ pendingChange }),
    }
  }, [])
  return useMemo(() => {
    const count = state.isAllMatching && state.allMatching !== null ? state.allMatching.total : state.ids.size
    return { ...state, ...actions, count }
  }, [state, actions])
}

/** Deletes a single selected lead and clears the selection; for several, asks for confirmation. */
export function removeSelected({ ids, clear, confirmChange }: Selection, actions: LeadActions): void {
  if (ids.size > 1) confirmChange({ delete: true })
  else {
    void actions.remove([...ids].map((id) => ({ id, name: t.leads.count({ n: 1 }) })))
    clear()
  }
}
