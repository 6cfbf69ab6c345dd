import { memo, Suspense } from 'react'
import type { Lead } from '../../data/leads.ts'
import type { Column } from '../../shared/lead-view/conditions.ts'
import { t, withTexts } from '../../text/index.ts'
import { Avatar } from '../../ui/Avatar.tsx'
import { prefetchedComponent } from '../../ui/overlay/lazy.ts'
import { ShortcutsBlocked } from '../../ui/overlay/shortcuts-blocked.ts'
import { cellOf, type FieldContext, isCellEditable } from '../fields/columns.tsx'
import type { FinishCellEdit, RejectedInput } from '../fields/edit-field.ts'
import { isNumberColumn } from '../fields/field-columns.ts'
import styles from '../fields/LeadTable.module.css'
import { nameOf } from '../fields/lead.ts'

const CellEditor = prefetchedComponent(() => withTexts(() => import('./CellEditor.tsx')))
const LabelsCell = prefetchedComponent(() => import('./LabelsCell.tsx'))

interface LeadRowProps {
  /** Undefined while its page is loading. */
  lead: Lead | undefined
  index: number
  /** Position in the scrolled element. Rows keep their position, so that only new ones are painted. */
  top: number
  shown: readonly Column[]
  context: FieldContext
  isActive: boolean
  /** The active cell, in the active row. */
  activeColumn: Column | null
  isSelected: boolean
  isOpen: boolean
  /** Set while the cell is edited, with the error of the last attempt. */
  editing: { refused: RejectedInput | null } | null
  onDone: FinishCellEdit
}

export const cellId = (index: number, column: Column) => `lead-${index}-${column}`

/** Clicks are handled by the table, so that a row renders only when its own data changes. */
export const LeadRow = memo(function LeadRow(props: LeadRowProps) {
  const { lead, index, top, shown, context, isActive, activeColumn, isSelected, isOpen, editing, onDone } = props
  return (
    <div
      role="row"
      tabIndex={-1}
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      className={styles.row}
      style={{ top }}
      data-row={index}
      data-active={isActive || undefined}
      data-open={isOpen || undefined}
    >
      {shown.map((id) => (
        <div
          key={id}
          role="gridcell"
          tabIndex={-1}
          id={cellId(index, id)}
          className={classOf(id, lead !== undefined && !(editing !== null && activeColumn === id))}
          data-column={id}
          data-active={activeColumn === id || undefined}
          data-numeric={isNumberColumn(id, context.fields) || undefined}
          aria-readonly={!isCellEditable(id)}
        >
          {lead === undefined ? (
            <span className={styles.blank} />
          ) : editing !== null && activeColumn === id && isCellEditable(id) ? (
            <Suspense fallback={<ShortcutsBlocked />}>
              {id === 'labels' ? (
                <LabelsCell lead={lead} onDone={onDone} />
              ) : (
                <CellEditor {...{ lead, id, context, onDone }} rejected={editing.refused} />
              )}
            </Suspense>
          ) : id === 'name' ? (
            <NameCell lead={lead} isSelected={isSelected} />
          ) : isPlain(id) ? (
            cellOf(id, lead, context)
          ) : (
            <span className={styles.text}>{cellOf(id, lead, context)}</span>
          )}
        </div>
      ))}
    </div>
  )
})

const isPlain = (id: Column) => id !== 'status' && id !== 'priority' && id !== 'assignedTo' && id !== 'labels'

// Text cells need no inner element.
const classOf = (id: Column, isShown: boolean) =>
  id === 'name' ? styles.first : isShown && isPlain(id) ? styles.label : styles.cell

function NameCell({ lead, isSelected }: { lead: Lead; isSelected: boolean }) {
  const name = nameOf(lead)
  return (
    <>
      <input
        type="checkbox"
        className={styles.check}
        tabIndex={-1}
        checked={isSelected}
        readOnly
        aria-label={t.leads.select({ name })}
        data-does="select"
      />
      <Avatar name={name} size={22} />
      <button type="button" tabIndex={-1} className={styles.name} dir="auto" data-does="open">
        {name}
      </button>
    </>
  )
}
