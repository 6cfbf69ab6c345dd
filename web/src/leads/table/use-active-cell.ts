import { type RefObject, useCallback, useEffect, useMemo, useRef, useState } from 'react'
import type { Lead, LeadQuery } from '../../data/leads.ts'
import { errorSentence } from '../../ui/format/error-texts.ts'
import { showError } from '../../ui/overlay/toasts.tsx'
import type { LeadActions } from '../fields/change.ts'
import type { ColumnChoice, ColumnId } from '../fields/column-choice.ts'
import { isCellEditable } from '../fields/columns.tsx'
import type { FinishCellEdit, RejectedInput } from '../fields/edit-field.ts'
import { cellId } from './LeadRow.tsx'
import type { useRowWindow } from './use-row-window.ts'
import type { LeadRows } from './use-rows.ts'
import type { Selection } from './use-selection.ts'

/** Current state of the table. */
interface TableState {
  rows: LeadRows
  total: number
  choice: ColumnChoice
  selection: Selection
  openId: string | undefined
  open(lead: Lead | null): void
  rowsInView: ReturnType<typeof useRowWindow>
  query: LeadQuery
}

/** The state with the active cell, for callbacks. */
export interface Latest extends TableState {
  row: number
  column: ColumnId
  active: Lead | undefined
}

export interface ActiveCell {
  latest: RefObject<Latest>
  /** Set while the cell is edited, with the error of the last attempt. */
  editing: { refused: RejectedInput | null } | null
  goTo(row: number): void
  goAcross(step: number): void
  edit(): void
  place(row: number, column: ColumnId, lead: Lead): void
  finishEdit: FinishCellEdit
}

const start = { row: 0, id: null, column: 'name' } as const

/** Returns the state of the active cell. */
export function useActiveCell(box: RefObject<HTMLElement | null>, state: TableState, actions: LeadActions): ActiveCell {
  const { rows, total, choice, rowsInView, query } = state
  const [at, setAt] = useState<{ row: number; id: string | null; column: ColumnId }>(start)
  const [editing, setEditing] = useState<{ refused: RejectedInput | null } | null>(null)

  // New leads move rows down: the active cell stays with its lead.
  const found = at.id === null || rows.at(at.row)?.id === at.id ? -1 : rows.indexOf(at.id)
  const row = Math.min(found === -1 ? at.row : found, Math.max(total - 1, 0))
  const column = choice.shown.includes(at.column) ? at.column : 'name'
  const now: Latest = { ...state, row, column, active: rows.at(row) }
  const latest = useRef(now)
  latest.current = now

  useNewList(query, () => {
    rowsInView.toTop()
    setAt(start)
    setEditing(null)
  })
  const focus = useCallback(() => box.current?.focus({ preventScroll: true }), [box])
  const goTo = useCallback(
    (target: number) => {
      const { rows, total, row, openId, open, rowsInView } = latest.current
      const next = Math.max(0, Math.min(total - 1, target))
      const lead = rows.at(next)
      setEditing(null)
      setAt((before) => ({ ...before, row: next, id: lead?.id ?? null }))
      // The next key press may come before the render.
      latest.current = { ...latest.current, row: next, active: lead }
      rowsInView.show(next)
      if (openId !== undefined && lead !== undefined && next !== row) open(lead)
      focus()
    },
    [focus],
  )
  const goAcross = useCallback((step: number) => {
    const { choice, column, row } = latest.current
    const next = choice.shown[choice.shown.indexOf(column) + step]
    if (next === undefined) return
    setAt((before) => ({ ...before, column: next }))
    latest.current = { ...latest.current, column: next }
    document.getElementById(cellId(row, next))?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [])
  const edit = useCallback(() => {
    const { active, column, open } = latest.current
    if (active === undefined) return
    if (isCellEditable(column)) setEditing({ refused: null })
    else open(active)
  }, [])
  const place = useCallback((row: number, column: ColumnId, lead: Lead) => setAt({ row, id: lead.id, column }), [])
  const finishEdit = useCallback<FinishCellEdit>(
    (lead, typed, then) => {
      setEditing(null)
      focus()
      const { row, column } = latest.current
      const again = (error: unknown, text: string) => {
        // If the focus has left the table, shows a toast; otherwise opens the cell again with the rejected input.
        if (document.activeElement !== box.current) return showError(error)
        place(row, column, lead)
        setEditing({ refused: { text, message: errorSentence(error) } })
      }
      if (typed !== null) {
        void actions.change(lead, typed.changes).then((error) => error !== null && again(error, typed.text))
      }
      if (then === 'next') goAcross(1)
    },
    [actions, goAcross, focus, place, box],
  )
  return useMemo(
    () => ({ latest, editing, goTo, goAcross, edit, place, finishEdit }),
    [editing, goTo, goAcross, edit, place, finishEdit],
  )
}

/** Starts a new list at the top. */
function useNewList(query: LeadQuery, startEdit: () => void): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs once per list
  useEffect(startEdit, [query])
}
