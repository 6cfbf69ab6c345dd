import { useQueryClient } from '@tanstack/react-query'
import { type CSSProperties, type MouseEvent, type RefObject, useCallback, useEffect, useRef, useState } from 'react'
import { firstIds, type Lead, type LeadQuery } from '../../data/leads.ts'
import { t } from '../../text/index.ts'
import { EmptyState } from '../../ui/page/EmptyState.tsx'
import { ErrorState } from '../../ui/page/ErrorState.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import type { LeadActions } from '../fields/change.ts'
import { type ColumnChoice, type ColumnId, widthOf } from '../fields/column-choice.ts'
import { type FieldContext, isCellEditable } from '../fields/columns.tsx'
import styles from '../fields/LeadTable.module.css'
import { copyCell } from './copy-cell.ts'
import { cellId, LeadRow } from './LeadRow.tsx'
import { type SortChange, TableHead } from './TableHead.tsx'
import { type ActiveCell, useActiveCell } from './use-active-cell.ts'
import type { Columns } from './use-columns.ts'
import { rowPx, useRowWindow } from './use-row-window.ts'
import { type LeadRows, useLeadRows } from './use-rows.ts'
import type { Selection } from './use-selection.ts'
import { useTableKeys } from './use-table-keys.ts'

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
  useTableKeys({
    isFocused: isFocused && cell.editing === null,
    cell,
    selectAll,
    latest: cell.latest,
    actions,
    selected: selection.ids.size,
  })
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
      onCopy={(event) => copyCell(event, { row: activeRow, column, lead: active }, context.fields)}
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

interface RowsProps {
  rows: LeadRows
  rowsInView: ReturnType<typeof useRowWindow>
  cell: ActiveCell
  isFocused: boolean
  choice: ColumnChoice
  context: FieldContext
  selection: Selection
  openId: string | undefined
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

interface ClicksProps extends Pick<RowsProps, 'rows' | 'cell' | 'selection' | 'openId'> {
  box: RefObject<HTMLDivElement | null>
  open(lead: Lead | null): void
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

function placeOf(event: MouseEvent): { row: number; column: ColumnId; does: string | undefined } | null {
  const target = event.target as HTMLElement
  const row = target.closest<HTMLElement>('[data-row]')?.dataset.row
  const column = target.closest<HTMLElement>('[data-column]')?.dataset.column
  if (row === undefined || column === undefined) return null
  return {
    row: Number(row),
    column: column as ColumnId,
    does: target.closest<HTMLElement>('[data-does]')?.dataset.does,
  }
}
