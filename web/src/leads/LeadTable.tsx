import { useQueryClient } from '@tanstack/react-query'
import { type CSSProperties, type MouseEvent, useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { t } from '../text/index.ts'
import { Empty } from '../ui/Empty.tsx'
import { useKeys } from '../ui/keys.ts'
import { say } from '../ui/notices.tsx'
import { Trouble } from '../ui/Trouble.tsx'
import { number } from '../ui/time.ts'
import type { LeadQuery } from './address.ts'
import type { LeadVerbs } from './change.ts'
import { type ColumnId, widthOf } from './column-choice.ts'
import { type FieldContext, isEditable } from './columns.tsx'
import { cellId, LeadRow } from './LeadRow.tsx'
import styles from './LeadTable.module.css'
import { type Lead, nameOf } from './lead.ts'
import { firstIds, type LeadChanges } from './queries.ts'
import { type SortChange, TableHead } from './TableHead.tsx'
import type { Columns } from './use-columns.ts'
import { useLeadRows } from './use-rows.ts'
import type { Selection } from './use-selection.ts'
import { useWindow } from './use-window.ts'

interface LeadTableProps {
  workspaceId: string
  query: LeadQuery
  context: FieldContext
  columns: Columns
  selection: Selection
  verbs: LeadVerbs
  openId: string | undefined
  open(lead: Lead | null): void
  told(total: number | undefined): void
  sort: SortChange
  isFiltered: boolean
  clearFilters(): void
  create(): void
}

const most = 2000

/** Any number of leads, of which those in view are drawn. Keys act on one cell of one row. */
export function LeadTable(props: LeadTableProps) {
  const { workspaceId, query, context, columns, selection, verbs, openId, open, told } = props
  const box = useRef<HTMLDivElement>(null)
  const queries = useQueryClient()
  const [total, setTotal] = useState(0)
  const rowsInView = useWindow(box, total)
  const rows = useLeadRows(workspaceId, query, rowsInView.first, rowsInView.end)
  if (rows.total !== undefined && rows.total !== total) setTotal(rows.total)
  useEffect(() => told(rows.total), [told, rows.total])
  const { choice } = columns
  const [place, setPlace] = useState<{ row: number; id: string | null; column: ColumnId }>(start)
  const [isEditing, setEditing] = useState(false)
  const [isFocused, setFocused] = useState(false)

  // New leads push rows down: keys go on acting on the lead that they acted on.
  const found = place.id === null || rows.at(place.row)?.id === place.id ? -1 : rows.indexOf(place.id)
  const activeRow = Math.min(found === -1 ? place.row : found, Math.max(total - 1, 0))
  const active = rows.at(activeRow)
  const column = choice.shown.includes(place.column) ? place.column : 'name'

  // biome-ignore lint/correctness/useExhaustiveDependencies: another list begins at its top
  useEffect(() => {
    rowsInView.toTop()
    setPlace(start)
    setEditing(false)
  }, [query])

  const now = { rows, activeRow, active, column, total, choice, selection, isEditing, openId, open, rowsInView, query }
  const latest = useRef(now)
  latest.current = now

  const goTo = useCallback((row: number, extend = false) => {
    const { rows, total, activeRow, active, selection, openId, open, rowsInView } = latest.current
    const next = Math.max(0, Math.min(total - 1, row))
    const lead = rows.at(next)
    setEditing(false)
    setPlace((before) => ({ ...before, row: next, id: lead?.id ?? null }))
    rowsInView.show(next)
    if (extend) selection.add([active, lead].flatMap((one) => one?.id ?? []))
    if (openId !== undefined && lead !== undefined && next !== activeRow) open(lead)
    box.current?.focus({ preventScroll: true })
  }, [])
  const goAcross = useCallback((step: number) => {
    const { choice, column } = latest.current
    const next = choice.shown[choice.shown.indexOf(column) + step]
    if (next === undefined) return
    setPlace((before) => ({ ...before, column: next }))
    requestAnimationFrame(() =>
      document
        .getElementById(cellId(latest.current.activeRow, next))
        ?.scrollIntoView({ block: 'nearest', inline: 'nearest' }),
    )
  }, [])
  const edit = useCallback(() => {
    const { active, column, open } = latest.current
    if (active === undefined) return
    if (isEditable(column)) setEditing(true)
    else open(active)
  }, [])
  const done = useCallback(
    (lead: Lead, changes: LeadChanges | null, then: 'stay' | 'next') => {
      setEditing(false)
      if (changes !== null) void verbs.edit(lead, changes)
      box.current?.focus({ preventScroll: true })
      if (then === 'next') goAcross(1)
    },
    [verbs, goAcross],
  )
  const selectAll = useCallback(async () => {
    const { query, total, selection } = latest.current
    selection.set(await firstIds(queries, workspaceId, query, most))
    if (total > most) say(t.leads.selectedFirst(number(most)))
  }, [queries, workspaceId])

  useTableKeys({ isFocused: isFocused && !isEditing, goTo, goAcross, edit, selectAll, latest, verbs })

  const onClick = (event: MouseEvent) => {
    const at = placeOf(event)
    const lead = at === null ? undefined : rows.at(at.row)
    if (at === null || lead === undefined || isEditing) return
    setPlace({ row: at.row, id: lead.id, column: at.column })
    if (at.does === 'select') {
      if (event.shiftKey) selectRange(latest.current, activeRow, at.row)
      else selection.toggle(lead.id)
    } else if (at.does === 'open' || openId !== undefined || window.matchMedia('(max-width: 640px)').matches) open(lead)
    if (at.does !== 'open') box.current?.focus({ preventScroll: true })
  }
  const onDoubleClick = (event: MouseEvent) => {
    const at = placeOf(event)
    if (at !== null && at.does === undefined && isEditable(at.column)) setEditing(true)
  }
  const widths = choice.shown.map((id) => `${widthOf(choice, id)}px`).join(' ')

  if (rows.error !== null) return <Trouble error={rows.error} retry={rows.retry} />
  if (rows.total === 0 && !rows.isOld) {
    return props.isFiltered ? (
      <Empty title={t.leads.emptyFiltered} action={{ label: t.leads.clearFilters, run: props.clearFilters }} />
    ) : (
      <Empty title={t.leads.empty} action={{ label: t.leads.create, run: props.create }} />
    )
  }
  const { first, end, scrollPx, topPx } = rowsInView
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: keys are heard for the whole page
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
      style={{ '--columns': widths } as CSSProperties}
      onScroll={rowsInView.onScroll}
      onClick={onClick}
      onDoubleClick={onDoubleClick}
      onFocus={(event) => setFocused(event.target === event.currentTarget)}
      onBlur={() => setFocused(false)}
    >
      <TableHead columns={columns} sort={props.sort} selection={selection} total={total} selectAll={selectAll} />
      <div
        role="rowgroup"
        className={styles.rows}
        data-old={rows.isOld || undefined}
        style={{ height: Math.max(scrollPx, 1) }}
      >
        <div role="presentation" style={{ transform: `translateY(${topPx}px)` }}>
          {Array.from({ length: Math.max(end - first, rows.total === undefined ? 12 : 0) }, (_, n) => {
            const index = first + n
            const lead = rows.at(index)
            const isActive = index === activeRow && isFocused
            return (
              <LeadRow
                key={index}
                index={index}
                lead={lead}
                shown={choice.shown}
                context={context}
                isActive={isActive || (isEditing && index === activeRow)}
                activeColumn={index === activeRow && (isFocused || isEditing) ? column : null}
                isSelected={lead !== undefined && selection.ids.has(lead.id)}
                isOpen={lead !== undefined && lead.id === openId}
                isEditing={isEditing && index === activeRow}
                done={done}
              />
            )
          })}
        </div>
      </div>
    </div>
  )
}

const start = { row: 0, id: null, column: 'name' } as const

interface Latest {
  rows: ReturnType<typeof useLeadRows>
  activeRow: number
  active: Lead | undefined
  selection: Selection
  openId: string | undefined
  open(lead: Lead | null): void
}

interface TableKeys {
  isFocused: boolean
  goTo(row: number, extend?: boolean): void
  goAcross(step: number): void
  edit(): void
  selectAll(): void
  latest: { current: Latest }
  verbs: LeadVerbs
}

function useTableKeys({ isFocused, goTo, goAcross, edit, selectAll, latest, verbs }: TableKeys): void {
  const move = useCallback((step: number) => goTo(latest.current.activeRow + step), [goTo, latest])
  const keys = t.leads.keys
  useKeys(
    keys.group,
    useMemo(() => {
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
          label: keys.delete,
          run: () => {
            const { active } = latest.current
            if (active !== undefined) void verbs.remove([{ id: active.id, name: nameOf(active) }])
          },
        },
      ]
      const within = [
        { keys: 'Enter', label: keys.edit, run: edit },
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
      return isFocused ? [...everywhere, ...within] : everywhere
    }, [isFocused, move, goTo, goAcross, edit, selectAll, latest, verbs, keys]),
  )
}

// What lies between and is not loaded is not selected.
function selectRange({ rows, selection }: Latest, from: number, to: number): void {
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
