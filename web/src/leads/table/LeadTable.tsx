import { useQueryClient } from '@tanstack/react-query'
import {
  type ClipboardEvent,
  type CSSProperties,
  type MouseEvent,
  type RefObject,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react'
import type { LeadField } from '../../data/lead-fields.ts'
import { firstIds, type Lead, type LeadQuery } from '../../data/leads.ts'
import { type Column, isCustom } from '../../shared/lead-view/conditions.ts'
import { t } from '../../text/index.ts'
import { dialablePhone } from '../../ui/format/phone.ts'
import { formatNumber } from '../../ui/format/time.ts'
import { EmptyState } from '../../ui/page/EmptyState.tsx'
import { ErrorState } from '../../ui/page/ErrorState.tsx'
import { useShortcuts } from '../../ui/shortcuts.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import type { LeadActions } from '../fields/change.ts'
import { type ColumnChoice, widthOf } from '../fields/column-choice.ts'
import { type FieldContext, isCellEditable } from '../fields/columns.tsx'
import { keyOfColumn } from '../fields/field-columns.ts'
import styles from '../fields/LeadTable.module.css'
import { nameOf, phoneInputText } from '../fields/lead.ts'
import { cellId, LeadRow } from './LeadRow.tsx'
import { type SortChange, TableHead } from './TableHead.tsx'
import { type ActiveCell, type Latest, useActiveCell } from './use-active-cell.ts'
import type { Columns } from './use-columns.ts'
import { rowPx, useRowWindow } from './use-row-window.ts'
import { type LeadRows, useLeadRows } from './use-rows.ts'
import { removeSelected, type Selection } from './use-selection.ts'

interface LeadTableProps {
  query: LeadQuery
  context: FieldContext
  columns: Columns
  selection: Selection
  actions: LeadActions
  openId: string | undefined
  open(lead: Lead | null): void
  onTotal(total: number | undefined): void
  sort: SortChange
  isFiltered: boolean
  clearFilters(): void
  create(): void
}

const maxRows = 2000
/** Skeleton rows while the number of leads is unknown. */
const skeletonRows = 12

/** Virtual table of leads. Shortcuts act on the active cell. */
export function LeadTable(props: LeadTableProps) {
  const workspaceId = useWorkspaceId()
  const { query, context, columns, selection, actions, openId, open, onTotal } = props
  const box = useRef<HTMLDivElement>(null)
  const [total, setTotal] = useState(0)
  const rowsInView = useRowWindow(box, total)
  const rows = useLeadRows(workspaceId, query, rowsInView.first, rowsInView.end)
  if (rows.total !== undefined && rows.total !== total) setTotal(rows.total)
  useEffect(() => onTotal(rows.total), [onTotal, rows.total])
  const { choice } = columns
  const cell = useActiveCell(box, { rows, total, choice, selection, openId, open, rowsInView, query }, actions)
  const [isFocused, setFocused] = useState(false)
  const selectAll = useSelectAll(workspaceId, query, total, selection)
  useTableKeys(cell, actions, selectAll, isFocused && cell.editing === null, selection.ids.size)
  const clicks = clicksOf({ box, rows, cell, selection, openId, open })

  if (rows.error !== null) return <ErrorState error={rows.error} retry={rows.retry} />
  if (rows.total === 0 && !rows.isOld) return <NoLeads {...props} />
  const { row: activeRow, column, active } = cell.latest.current
  return (
    // Shortcuts are handled for the whole page.
    <div
      ref={box}
      className={styles.box}
      role="grid"
      aria-label={t.leads.list}
      aria-rowcount={total + 1}
      aria-colcount={choice.shown.length}
      aria-multiselectable
      aria-busy={rows.isOld || rows.total === undefined}
      aria-activedescendant={isFocused && active !== undefined ? cellId(activeRow, column) : undefined}
      tabIndex={0}
      style={rowStyle(choice.shown.map((id) => widthOf(choice, id)))}
      onScroll={rowsInView.onScroll}
      onFocus={(event) => setFocused(event.target === event.currentTarget)}
      onBlur={() => setFocused(false)}
      onCopy={(event) => copyCell(event, cell.latest.current, context.fields)}
      {...clicks}
    >
      <TableHead columns={columns} sort={props.sort} selection={selection} total={total} selectAll={selectAll} />
      <VisibleRows {...{ rows, rowsInView, cell, isFocused, choice, context, selection, openId }} />
    </div>
  )
}

function NoLeads({ isFiltered, clearFilters, create }: LeadTableProps) {
  return isFiltered ? (
    <EmptyState title={t.leads.emptyFiltered} action={{ label: t.leads.clearFilters, run: clearFilters }} />
  ) : (
    <EmptyState title={t.leads.empty} action={{ label: t.leads.create, run: create }} />
  )
}

function useSelectAll(workspaceId: string, query: LeadQuery, total: number, selection: Selection) {
  const queries = useQueryClient()
  return useCallback(async () => {
    selection.set(await firstIds(queries, workspaceId, query, maxRows))
    if (total > maxRows) selection.setAllMatching({ query, total })
  }, [queries, workspaceId, query, total, selection])
}

interface RowsProps extends Pick<LeadTableProps, 'context' | 'selection' | 'openId'> {
  rows: LeadRows
  rowsInView: ReturnType<typeof useRowWindow>
  cell: ActiveCell
  isFocused: boolean
  choice: ColumnChoice
}

function VisibleRows({ rows, rowsInView, cell, isFocused, choice, context, selection, openId }: RowsProps) {
  const { first, end, scrollPx, topPx } = rowsInView
  const { editing } = cell
  const { row: activeRow, column } = cell.latest.current
  const rowCount = Math.max(end - first, rows.total === undefined ? skeletonRows : 0)
  return (
    <div
      role="rowgroup"
      className={styles.rows}
      data-old={rows.isOld || undefined}
      style={{ height: Math.max(scrollPx, 1) }}
    >
      {Array.from({ length: rowCount }, (_, n) => {
        const index = first + n
        const lead = rows.at(index)
        const isHere = index === activeRow && (isFocused || editing !== null)
        return (
          <LeadRow
            key={index}
            index={index}
            top={topPx + n * rowPx}
            lead={lead}
            shown={choice.shown}
            context={context}
            isActive={isHere}
            activeColumn={isHere ? column : null}
            isSelected={lead !== undefined && selection.ids.has(lead.id)}
            isOpen={lead !== undefined && lead.id === openId}
            editing={index === activeRow ? editing : null}
            onDone={cell.finishEdit}
          />
        )
      })}
    </div>
  )
}

interface ClicksProps extends Pick<LeadTableProps, 'selection' | 'openId' | 'open'> {
  box: RefObject<HTMLDivElement | null>
  rows: LeadRows
  cell: ActiveCell
}

function clicksOf({ box, rows, cell, selection, openId, open }: ClicksProps) {
  const { editing } = cell
  return {
    onClick: (event: MouseEvent) => {
      const at = placeOf(event)
      const lead = at === null ? undefined : rows.at(at.row)
      if (at === null || lead === undefined || editing !== null) return
      if (at.does === 'open' && (event.ctrlKey || event.metaKey)) return openInTab(lead)
      const { row: from } = cell.latest.current
      cell.place(at.row, at.column, lead)
      if (at.does === 'select') {
        if (event.shiftKey) selectRange(rows, selection, from, at.row)
        else selection.toggle(lead.id)
      } else if (at.does === 'open' || openId !== undefined || window.matchMedia('(max-width: 640px)').matches)
        open(lead)
      if (at.does !== 'open') box.current?.focus({ preventScroll: true })
    },
    onDoubleClick: (event: MouseEvent) => {
      const at = placeOf(event)
      if (at !== null && at.does === undefined && isCellEditable(at.column)) cell.edit()
    },
  }
}

const openInTab = ({ id }: Lead) => void window.open(`${window.location.pathname}/${id}`, '_blank')

const rowStyle = (widths: readonly number[]) =>
  ({
    '--columns': widths.map((px) => `${px}px`).join(' '),
    '--width': `${widths.reduce((sum, px) => sum + px, 0)}px`,
  }) as CSSProperties

// Rows that are not loaded are not selected.
function selectRange(rows: LeadRows, selection: Selection, from: number, to: number): void {
  const [low, high] = [Math.min(from, to), Math.max(from, to)]
  selection.add(Array.from({ length: high - low + 1 }, (_, n) => rows.at(low + n)?.id ?? '').filter((id) => id !== ''))
}

function placeOf(event: MouseEvent): { row: number; column: Column; does: string | undefined } | null {
  const target = event.target as HTMLElement
  const row = target.closest<HTMLElement>('[data-row]')?.dataset.row
  const column = target.closest<HTMLElement>('[data-column]')?.dataset.column
  if (row === undefined || column === undefined) return null
  return {
    row: Number(row),
    column: column as Column,
    does: target.closest<HTMLElement>('[data-does]')?.dataset.does,
  }
}

/** Copies the active cell if no text is selected; phones in dialable form. */
function copyCell(event: ClipboardEvent, { row, column, active: lead }: Latest, fields: readonly LeadField[]): void {
  const cell = document.getElementById(cellId(row, column))
  const selection = window.getSelection()
  const isInput = event.target instanceof HTMLInputElement
  if (cell === null || lead === undefined || isInput) return
  const text = cell.textContent
  const isWhole = selection?.toString().trim() === text && cell.contains(selection.anchorNode)
  if (selection?.isCollapsed === false && !isWhole) return
  event.clipboardData.setData('text/plain', plainOf(column, lead, fields) ?? text)
  event.preventDefault()
}

function plainOf(column: Column, lead: Lead, fields: readonly LeadField[]): string | null {
  if (column === 'phone') return phoneInputText(lead.phone)
  if (!isCustom(column)) return null
  const key = keyOfColumn(column)
  const value = lead.customFieldValues?.[key]
  const isPhone = fields.find((field) => field.key === key)?.type === 'phone'
  return isPhone && typeof value === 'string' ? dialablePhone(value) : null
}

/** Registers shortcuts: some work everywhere, others only in the table, where Enter and Space press no button. */
function useTableKeys(
  { latest, goTo, goAcross, edit }: ActiveCell,
  actions: LeadActions,
  selectAll: () => void,
  isInTable: boolean,
  selected: number,
): void {
  const keys = t.leads.keys
  useShortcuts(
    keys.group,
    useMemo(() => {
      const move = (step: number) => goTo(latest.current.row + step)
      const page = () => Math.max(1, Math.floor(window.innerHeight / 36) - 6)
      const everywhere = [
        { keys: 'j', label: keys.next, run: () => move(1) },
        { keys: 'k', label: keys.previous, run: () => move(-1) },
        {
          keys: 'x',
          label: keys.select,
          run: () => {
            const { active, selection } = latest.current
            if (active !== undefined) selection.toggle(active.id)
          },
        },
        {
          keys: '#',
          label: selected === 0 ? keys.delete : keys.deleteSelected({ n: formatNumber(selected) }),
          run: () => {
            const { active, selection } = latest.current
            // The selection takes precedence over the active cell.
            if (selection.ids.size > 0) removeSelected(selection, actions)
            else if (active !== undefined) void actions.remove([{ id: active.id, name: nameOf(active) }])
          },
        },
      ]
      const within = [
        { keys: 'Enter', label: keys.edit, run: edit },
        { keys: 'F2', label: keys.edit, run: edit },
        {
          keys: ' ',
          label: keys.open,
          run: () => {
            const { active, openId, open } = latest.current
            if (active !== undefined) open(openId === active.id ? null : active)
          },
        },
        { keys: 'mod+a', label: keys.selectAll, run: selectAll },
        { keys: 'ArrowDown', label: keys.next, run: () => move(1) },
        { keys: 'ArrowUp', label: keys.previous, run: () => move(-1) },
        { keys: 'ArrowRight', label: t.leads.columns, run: () => goAcross(1) },
        { keys: 'ArrowLeft', label: t.leads.columns, run: () => goAcross(-1) },
        { keys: 'PageDown', label: keys.next, run: () => move(page()) },
        { keys: 'PageUp', label: keys.previous, run: () => move(-page()) },
        { keys: 'Home', label: keys.previous, run: () => goTo(0) },
        { keys: 'End', label: keys.next, run: () => goTo(Number.MAX_SAFE_INTEGER) },
      ]
      return isInTable ? [...everywhere, ...within] : everywhere
    }, [isInTable, goTo, goAcross, edit, selectAll, selected, latest, actions, keys]),
  )
}
