import { useCallback, useMemo, useState } from 'react'
import { t } from '../../text/index.ts'
import type { LeadVerbs } from '../fields/change.ts'

export interface Selection {
  ids: ReadonlySet<string>
  toggle(id: string): void
  add(ids: readonly string[]): void
  set(ids: readonly string[]): void
  clear(): void
}

const none: ReadonlySet<string> = new Set()

export function useSelection(): Selection {
  const [ids, setIds] = useState(none)
  const toggle = useCallback(
    (id: string) =>
      setIds((before) =>
        before.has(id) ? new Set([...before].filter((one) => one !== id)) : new Set([...before, id]),
      ),
    [],
  )
  const add = useCallback((more: readonly string[]) => setIds((before) => new Set([...before, ...more])), [])
  const set = useCallback((all: readonly string[]) => setIds(new Set(all)), [])
  const clear = useCallback(() => setIds((before) => (before.size === 0 ? before : none)), [])
  return useMemo(() => ({ ids, toggle, add, set, clear }), [ids, toggle, add, set, clear])
}

/** Deletes all that are selected, of whom none is selected any more then. */
export function removeSelected({ ids, clear }: Selection, verbs: LeadVerbs): void {
  void verbs.remove([...ids].map((id) => ({ id, name: t.leads.one })))
  clear()
}
