import { useSyncExternalStore } from 'react'
import { extended } from './selection-rules.ts'

/** The conversations of the list that are chosen, to be changed together. */
export interface Selection {
  ids: readonly string[]
  /** Chosen by touch, where a row is tapped to be chosen as well. */
  isByTouch: boolean
}

const none: Selection = { ids: [], isByTouch: false }
/** More are not changed together. */
export const maxChosen = 500

let selection = none
/** The row that was chosen last: a range goes from there. */
let anchor: string | null = null
const watchers = new Set<() => void>()

function set(next: Selection): void {
  if (next === selection) return
  selection = next
  for (const changed of watchers) changed()
}

export const selectionNow = (): Selection => selection

export function toggleChosen(id: string): void {
  const { ids, isByTouch } = selection
  const isOn = ids.includes(id)
  anchor = id
  set({ ids: isOn ? ids.filter((one) => one !== id) : [...ids, id].slice(0, maxChosen), isByTouch })
}

/** All from the row that was chosen last to this one. */
export function chooseTo(id: string, rows: readonly { id: string }[]): void {
  set({ ...selection, ids: extended(selection.ids, anchor, id, rows).slice(0, maxChosen) })
  anchor = id
}

export const chooseAll = (ids: readonly string[]): void => set({ ...selection, ids: ids.slice(0, maxChosen) })

export const chooseByTouch = (): void => set({ ids: selection.ids, isByTouch: true })

export function clearChosen(): void {
  anchor = null
  set(none)
}

export const useSelection = (): Selection => useSyncExternalStore(watch, selectionNow)
export const useIsChoosing = (): boolean =>
  useSyncExternalStore(watch, () => selection.isByTouch || selection.ids.length > 0)

function watch(changed: () => void): () => void {
  watchers.add(changed)
  return () => watchers.delete(changed)
}
