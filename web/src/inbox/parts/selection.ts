import type { Conversation } from '../../data/inbox/types.ts'
import { createPublisher } from './publisher.ts'

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
const { publish, useValue } = createPublisher()

function set(next: Selection): void {
  if (next === selection) return
  selection = next
  publish()
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

/** Returns the selection with a range of rows added; only one row if there is no start. */
export function extendSelection(
  chosen: readonly string[],
  anchor: string | null,
  id: string,
  rows: readonly { id: string }[],
): string[] {
  const [from, to] = [rows.findIndex((row) => row.id === anchor), rows.findIndex((row) => row.id === id)]
  const range = from === -1 || to === -1 ? [{ id }] : rows.slice(Math.min(from, to), Math.max(from, to) + 1)
  return [...new Set([...chosen, ...range.map((row) => row.id)])]
}

export const selectAll = (ids: readonly string[]): void => set({ ...selection, ids: ids.slice(0, maxSelected) })

export const startTouchSelection = (): void => set({ ids: selection.ids, isTouchMode: true })

export function clearSelection(): void {
  anchor = null
  set(none)
}

export const useSelection = (): Selection => useValue(currentSelection)
export const useIsSelecting = (): boolean => useValue(() => selection.isTouchMode || selection.ids.length > 0)

/** Returns the next conversation, or the previous for the last; null without others, undefined if not in the list. */
export function adjacentId(rows: readonly { id: string }[], id: string): string | null | undefined {
  const at = rows.findIndex((row) => row.id === id)
  if (at === -1) return undefined
  return (rows[at + 1] ?? rows[at - 1])?.id ?? null
}

/** Returns whether a label is set on all, some or none of the conversations. */
export function labelState(
  conversations: readonly Pick<Conversation, 'labelIds'>[],
  labelId: string,
): boolean | 'some' {
  const count = conversations.filter(({ labelIds }) => labelIds.includes(labelId)).length
  return count === 0 ? false : count === conversations.length ? true : 'some'
}

export const isResolvedOrClosed = (status: Conversation['status']): boolean =>
  status === 'resolved' || status === 'closed'
