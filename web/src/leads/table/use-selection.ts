import { useCallback, useMemo, useState } from 'react'
import type { BulkWish } from '../../data/bulk-changes.ts'
import { t } from '../../text/index.ts'
import type { LeadVerbs } from '../fields/change.ts'

export interface Selection {
  ids: ReadonlySet<string>
  toggle(id: string): void
  add(ids: readonly string[]): void
  set(ids: readonly string[]): void
  clear(): void
  /** What is about to be done to them, if somebody agrees. */
  asked: BulkWish | null
  ask(wish: BulkWish | null): void
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
  const [asked, ask] = useState<BulkWish | null>(null)
  const clear = useCallback(() => {
    setIds((before) => (before.size === 0 ? before : none))
    ask(null)
  }, [])
  return useMemo(() => ({ ids, toggle, add, set, clear, asked, ask }), [ids, toggle, add, set, clear, asked])
}

/** Deletes the one that is selected, of which none is selected any more then; asks before it deletes several. */
export function removeSelected({ ids, clear, ask }: Selection, verbs: LeadVerbs): void {
  if (ids.size > 1) ask({ delete: true })
  else {
    void verbs.remove([...ids].map((id) => ({ id, name: t.leads.one })))
    clear()
  }
}
