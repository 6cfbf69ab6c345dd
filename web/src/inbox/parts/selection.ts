import { useSyncExternalStore } from 'react'
import { extendSelection } from './selection-rules.ts'

/** Selected conversations of the list, for bulk changes. */
export interface Selection {
  ids: readonly string[]
  /** Whether selection started by touch, where a tap then selects. */
  isTouchMode: boolean
}

const none: Selection = { ids: [], isTouchMode: false }
/** Largest selection for bulk changes. */
export const maxSelected = 500

let selection = none
/** Row that was selected last, where a range starts. */
let anchor: string | null = null
const listeners = new Set<() => void>()

function set(next: Selection): void {
  if (next === selection) return
  selection = next
  for (const listener of listeners) listener()
}

export const currentSelection = (): Selection => selection

export function toggleSelected(id: string): void {
  const { ids, isTouchMode } = selection
  const isOn = ids.includes(id)
  anchor = id
  set({ ids: isOn ? ids.filter((one) => one !== id) : [...ids, id].slice(0, maxSelected), isTouchMode })
}

/** Selects all rows from the row selected last to this one. */
export function selectRangeTo(id: string, rows: readonly { id: string }[]): void {
  set({ ...selection, ids: extendSelection(selection.ids, anchor, id, rows).slice(0, maxSelected) })
  anchor = id
}

export const selectAll = (ids: readonly string[]): void => set({ ...selection, ids: ids.slice(0, maxSelected) })

export const startTouchSelection = (): void => set({ ids: selection.ids, isTouchMode: true })

export function clearSelection(): void {
  anchor = null
  set(none)
}

export const useSelection = (): Selection => useSyncExternalStore(subscribe, currentSelection)
export const useIsSelecting = (): boolean =>
  useSyncExternalStore(subscribe, () => selection.isTouchMode || selection.ids.length > 0)

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
