import type { ClipboardEvent } from 'react'
import type { LeadField } from '../../data/lead-fields.ts'
import type { Lead } from '../../data/leads.ts'
import { dialablePhone } from '../../ui/format/phone.ts'
import { type ColumnId, isFieldColumn } from '../fields/column-choice.ts'
import { keyOfColumn } from '../fields/field-columns.ts'
import { phoneInputText } from '../fields/lead.ts'
import { cellId } from './LeadRow.tsx'

interface Place {
  row: number
  column: ColumnId
  lead: Lead | undefined
}

/** Copies the active cell if no text is selected; phones in dialable form. */
export function copyCell(event: ClipboardEvent, place: Place, fields: readonly LeadField[]): void {
  const { row, column, lead } = place
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

function plainOf(column: ColumnId, lead: Lead, fields: readonly LeadField[]): string | null {
  if (column === 'phone') return phoneInputText(lead.phone)
  if (!isFieldColumn(column)) return null
  const key = keyOfColumn(column)
  const value = lead.customFieldValues?.[key]
  const isPhone = fields.find((field) => field.key === key)?.type === 'phone'
  return isPhone && typeof value === 'string' ? dialablePhone(value) : null
}
