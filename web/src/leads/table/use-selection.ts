import { useCallback, useMemo, useState } from 'react'
import type { BulkWish } from '../../data/bulk-changes.ts'
import type { LeadQuery } from '../../data/leads.ts'
import { t } from '../../text/index.ts'
import type { LeadVerbs } from '../fields/change.ts'

export interface Selection {
  ids: ReadonlySet<string>
  toggle(id: string): void
  add(ids: readonly string[]): void
  set(ids: readonly string[]): void
  clear(): void
  /** All that a list shows, where that is more than can be ticked; null where everything is ticked that is meant. */
  offered: Everything | null
  offer(everything: Everything | null): void
  /** Whether all of that is meant, instead of what is ticked. */
  isEverything: boolean
  takeEverything(): void
  /** How many are meant. */
  count: number
  /** What is about to be done to them, if somebody agrees. */
  asked: BulkWish | null
  ask(wish: BulkWish | null): void
}

/** Leads by what shows them. */
export interface Everything {
  query: LeadQuery
  total: number
}

const none: ReadonlySet<string> = new Set()

export function useSelection(): Selection {
  const [ids, setIds] = useState(none)
  const [offered, setOffered] = useState<Everything | null>(null)
  const [isEverything, setEverything] = useState(false)
  const [asked, ask] = useState<BulkWish | null>(null)
  const offer = useCallback((everything: Everything | null) => {
    setOffered(everything)
    setEverything(false)
  }, [])
  // Whoever ticks means what is ticked.
  const change = useCallback(
    (next: (before: ReadonlySet<string>) => ReadonlySet<string>) => {
      setIds(next)
      offer(null)
    },
    [offer],
  )
  const verbs = useMemo(
    () => ({
      toggle: (id: string) =>
        change((before) =>
          before.has(id) ? new Set([...before].filter((one) => one !== id)) : new Set([...before, id]),
        ),
      add: (more: readonly string[]) => change((before) => new Set([...before, ...more])),
      set: (all: readonly string[]) => change(() => new Set(all)),
      clear: () => {
        change((before) => (before.size === 0 ? before : none))
        ask(null)
      },
      takeEverything: () => setEverything(true),
    }),
    [change],
  )
  return useMemo(() => {
    const count = isEverything && offered !== null ? offered.total : ids.size
    return { ...verbs, ids, offered, offer, isEverything, count, asked, ask }
  }, [verbs, ids, offered, offer, isEverything, asked])
}

/** Deletes the one that is selected, of which none is selected any more then; asks before it deletes several. */
export function removeSelected({ ids, clear, ask }: Selection, verbs: LeadVerbs): void {
  if (ids.size > 1) ask({ delete: true })
  else {
    void verbs.remove([...ids].map((id) => ({ id, name: t.leads.count({ n: 1 }) })))
    clear()
  }
}
