import { useCallback, useMemo, useState } from 'react'
import type { BulkChangeInput } from '../../data/bulk-changes.ts'
import type { LeadQuery } from '../../data/leads.ts'
import { t } from '../../text/index.ts'
import type { LeadActions } from '../fields/change.ts'

export interface Selection {
  ids: ReadonlySet<string>
  toggle(id: string): void
  add(ids: readonly string[]): void
  set(ids: readonly string[]): void
  clear(): void
  /** All leads that match the query, if there are more than can be ticked; null if the ticked ones are meant. */
  allMatching: AllMatching | null
  setAllMatching(everything: AllMatching | null): void
  /** Whether all matching leads are selected, instead of the ticked ones. */
  isAllMatching: boolean
  selectAllMatching(): void
  /** Number of selected leads. */
  count: number
  /** Bulk change to be confirmed. */
  pendingChange: BulkChangeInput | null
  confirmChange(input: BulkChangeInput | null): void
}

/** Leads selected by a query. */
export interface AllMatching {
  query: LeadQuery
  total: number
}

const none: ReadonlySet<string> = new Set()

export function useSelection(): Selection {
  const [ids, setIds] = useState(none)
  const [allMatching, setMatchingState] = useState<AllMatching | null>(null)
  const [isAllMatching, setAllSelected] = useState(false)
  const [pendingChange, confirmChange] = useState<BulkChangeInput | null>(null)
  const setAllMatching = useCallback((everything: AllMatching | null) => {
    setMatchingState(everything)
    setAllSelected(false)
  }, [])
  // Ticking a row ends the selection of all matching leads.
  const change = useCallback(
    (next: (before: ReadonlySet<string>) => ReadonlySet<string>) => {
      setIds(next)
      setAllMatching(null)
    },
    [setAllMatching],
  )
  const actions = useMemo(
    () => ({
      toggle: (id: string) =>
        change((before) =>
          before.has(id) ? new Set([...before].filter((one) => one !== id)) : new Set([...before, id]),
        ),
      add: (more: readonly string[]) => change((before) => new Set([...before, ...more])),
      set: (all: readonly string[]) => change(() => new Set(all)),
      clear: () => {
        change((before) => (before.size === 0 ? before : none))
        confirmChange(null)
      },
      selectAllMatching: () => setAllSelected(true),
    }),
    [change],
  )
  return useMemo(() => {
    const count = isAllMatching && allMatching !== null ? allMatching.total : ids.size
    return { ...actions, ids, allMatching, setAllMatching, isAllMatching, count, pendingChange, confirmChange }
  }, [actions, ids, allMatching, setAllMatching, isAllMatching, pendingChange])
}

/** Deletes a single selected lead and clears the selection; for several, asks for confirmation. */
export function removeSelected({ ids, clear, confirmChange }: Selection, actions: LeadActions): void {
  if (ids.size > 1) confirmChange({ delete: true })
  else {
    void actions.remove([...ids].map((id) => ({ id, name: t.leads.count({ n: 1 }) })))
    clear()
  }
}
