import { type Dispatch, type RefObject, type SetStateAction, useEffect, useMemo, useRef, useState } from 'react'
import type { Lead, LeadQuery } from '../../data/leads.ts'
import type { Column } from '../../shared/lead-view/conditions.ts'
import { errorSentence } from '../../ui/format/error-texts.ts'
import { showError } from '../../ui/overlay/toasts.tsx'
import type { LeadActions } from '../fields/change.ts'
import type { ColumnChoice } from '../fields/column-choice.ts'
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
  column: Column
  active: Lead | undefined
}

export type ActiveCell = ReturnType<typeof useActiveCell>

const start = { row: 0, id: null, column: 'name' } as const

/** Returns the state of the active cell, and actions on it. */
export function useActiveCell(box: RefObject<HTMLElement | null>, state: TableState, actions: LeadActions) {
  const { rows, total, choice, rowsInView, query } = state
  const [at, setAt] = useState<{ row: number; id: string | null; column: Column }>(start)
  // Set while the cell is edited, with the error of the last attempt.
  const [editing, setEditing] = useState<{ refused: RejectedInput | null } | null>(null)

  // New leads move rows down: the active cell stays with its lead.
  const found = at.id === null || rows.at(at.row)?.id === at.id ? -1 : rows.indexOf(at.id)
  const row = Math.min(found === -1 ? at.row : found, Math.max(total - 1, 0))
  const column = choice.shown.includes(at.column) ? at.column : 'name'
  const now: Latest = { ...state, row, column, active: rows.at(row) }
  const latest = useRef(now)
  latest.current = now

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new list starts at the top
  useEffect(() => {
    rowsInView.toTop()
    setAt(start)
    setEditing(null)
  }, [query])
  const cellActions = useMemo(() => createCellActions(box, latest, actions, setAt, setEditing), [box, actions])
  return useMemo(() => ({ ...cellActions, latest, editing }), [cellActions, editing])
}

function createCellActions(
  box: RefObject<HTMLElement | null>,
  latest: RefObject<Latest>,
  actions: LeadActions,
  setAt: Dispatch<SetStateAction<{ row: number; id: string | null; column: Column }>>,
  setEditing: (editing: { refused: RejectedInput | null } | null) => void,
) {
  const focus = () => box.current?.focus({ preventScroll: true })
  const place = (row: number, column: Column, lead: Lead) => setAt({ row, id: lead.id, column })
  const goAcross = (step: number) => {
    const { choice, column, row } = latest.current
    const next = choice.shown[choice.shown.indexOf(column) + step]
    if (next === undefined) return
    setAt((before) => ({ ...before, column: next }))
    latest.current = { ...latest.current, column: next }
    document.getElementById(cellId(row, next))?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }
  const finishEdit: FinishCellEdit = (lead, typed, then) => {
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
  }
  return {
    place,
    goAcross,
    finishEdit,
    goTo: (target: number) => {
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
    edit: () => {
      const { active, column, open } = latest.current
      if (active === undefined) return
      if (isCellEditable(column)) setEditing({ refused: null })
      else open(active)
    },
  }
}
