import { IconArrowDown, IconArrowUp } from '@tabler/icons-react'
import { type DragEvent, type KeyboardEvent, type PointerEvent, useState } from 'react'
import { useLeadFields } from '../../data/lead-fields.ts'
import type { Sort } from '../../shared/lead-view/address.ts'
import { type Column, isSortable, isSortedInDatabase } from '../../shared/lead-view/conditions.ts'
import { t } from '../../text/index.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { placeColumn, resizeColumn, widthOf } from '../fields/column-choice.ts'
import { columnTitle, isNumberColumn } from '../fields/field-columns.ts'
import styles from '../fields/LeadTable.module.css'
import type { Columns } from './use-columns.ts'
import type { Selection } from './use-selection.ts'

export interface SortChange {
  now: Sort
  to(sort: Sort): void
}

interface TableHeadProps {
  columns: Columns
  sort: SortChange
  selection: Selection
  total: number
  selectAll(): void
}

const dragType = 'application/x-parley-column'

/** Column headers: sort, resize and reorder. */
export function TableHead({ columns, sort, selection, total, selectAll }: TableHeadProps) {
  const { choice } = columns
  const isAll = selection.ids.size > 0 && selection.ids.size >= total
  return (
    <div role="rowgroup" className={styles.head}>
      <div role="row" tabIndex={-1} aria-rowindex={1} className={styles.headRow}>
        {choice.shown.map((id) => (
          <HeadCell key={id} id={id} columns={columns} sort={sort}>
            {id === 'name' && (
              <input
                type="checkbox"
                className={styles.check}
                aria-label={t.leads.selectAll}
                checked={isAll}
                ref={(element) => {
                  if (element !== null) element.indeterminate = selection.ids.size > 0 && !isAll
                }}
                onChange={() => (selection.ids.size > 0 ? selection.clear() : selectAll())}
              />
            )}
          </HeadCell>
        ))}
      </div>
    </div>
  )
}

interface HeadCellProps {
  id: Column
  columns: Columns
  sort: SortChange
  children: React.ReactNode
}

function HeadCell({ id, columns: { choice, change }, sort, children }: HeadCellProps) {
  const [isOver, setOver] = useState(false)
  const sortable = isSortable(id)
  const direction = sort.now === id ? 'ascending' : sort.now === `-${id}` ? 'descending' : undefined
  const fields = useLeadFields(useWorkspaceId())
  const title = columnTitle(id, fields)
  // Numbers and dates sort descending first; names ascending.
  const fromEnd = isNumberColumn(id, fields) || id === 'createdAt' || id === 'updatedAt' || id === 'priority'
  const isNextDown = direction === undefined ? fromEnd : direction === 'ascending'
  const mayMove = id !== 'name'
  return (
    <div
      role="columnheader"
      tabIndex={-1}
      aria-sort={sortable ? (direction ?? 'none') : undefined}
      className={id === 'name' ? styles.first : styles.cell}
      data-numeric={isNumberColumn(id, fields) || undefined}
      data-over={isOver || undefined}
      onDragOver={(event) => {
        if (!mayMove || !event.dataTransfer.types.includes(dragType)) return
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event: DragEvent) => {
        setOver(false)
        change(placeColumn(choice, event.dataTransfer.getData(dragType) as Column, id))
      }}
    >
      {children}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the columns menu moves them by keyboard */}
      <span
        className={styles.title}
        draggable={mayMove}
        onDragStart={(event) => event.dataTransfer.setData(dragType, id)}
      >
        {sortable ? (
          <button
            type="button"
            className={styles.sort}
            title={`${t.leads.sort({ field: title })}. ${isSortedInDatabase(id) ? t.filtering.byDatabase : t.filtering.byMemory}`}
            onClick={() => sort.to(isNextDown ? `-${id}` : id)}
          >
            {title}
            {direction === 'ascending' && <IconArrowUp size={12} aria-hidden="true" />}
            {direction === 'descending' && <IconArrowDown size={12} aria-hidden="true" />}
          </button>
        ) : (
          title
        )}
      </span>
      <Width id={id} title={title} now={widthOf(choice, id)} set={(px) => change(resizeColumn(choice, id, px))} />
    </div>
  )
}

function Width({ id, title, now, set }: { id: Column; title: string; now: number; set(px: number): void }) {
  const [from, setFrom] = useState<{ x: number; px: number } | null>(null)
  const onPointerDown = (event: PointerEvent<HTMLDivElement>) => {
    event.preventDefault()
    event.currentTarget.setPointerCapture(event.pointerId)
    setFrom({ x: event.clientX, px: now })
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowLeft: -16, ArrowRight: 16 }[event.key]
    if (step === undefined) return
    event.preventDefault()
    event.stopPropagation()
    set(now + step)
  }
  return (
    <div
      role="separator"
      aria-orientation="vertical"
      aria-label={t.leads.resize({ column: title })}
      aria-valuenow={now}
      aria-valuemin={72}
      aria-valuemax={640}
      tabIndex={-1}
      className={styles.width}
      data-width={id}
      onPointerDown={onPointerDown}
      onPointerMove={(event) => from !== null && set(from.px + event.clientX - from.x)}
      onPointerUp={() => setFrom(null)}
      onKeyDown={onKeyDown}
    />
  )
}
