import { type KeyboardEvent, Suspense, useEffect, useRef, useState } from 'react'
import type { Lead, LeadChanges } from '../../data/leads.ts'
import { t } from '../../text/index.ts'
import { later } from '../../ui/overlay/later.ts'
import { say } from '../../ui/overlay/notices.tsx'
import {
  changesOf,
  choicesOf,
  type FieldContext,
  type FieldName,
  isNumeric,
  readAs,
  textOf,
  wrongIn,
} from '../fields/columns.tsx'
import styles from '../fields/LeadTable.module.css'
import { nameOf } from '../fields/lead.ts'

const Meant = later(() => import('./Meant.tsx'))

interface CellEditorProps {
  lead: Lead
  field: FieldName
  context: FieldContext
  /** `null`: nothing has to be saved. */
  done(lead: Lead, changes: LeadChanges | null, then: 'stay' | 'next'): void
}

/** A cell that is being changed. Enter and leaving it save, Escape does not. */
export default function CellEditor({ lead, field, context, done }: CellEditorProps) {
  const [text, setText] = useState(() => textOf(lead, field))
  const isDone = useRef(false)
  const input = useRef<HTMLInputElement & HTMLSelectElement>(null)
  const choices = choicesOf(field, context, textOf(lead, field))
  useEffect(() => {
    const element = input.current
    element?.focus()
    if (element instanceof HTMLInputElement) element.select()
  }, [])
  const end = (changes: LeadChanges | null, then: 'stay' | 'next' = 'stay') => {
    if (isDone.current) return
    isDone.current = true
    done(lead, changes, then)
  }
  const wrong = wrongIn(field, text)
  const meant = readAs(field, text, context.currency)
  const save = (then: 'stay' | 'next' = 'stay') => {
    if (wrong === null) end(changesOf(lead, field, text), then)
    else say(wrong)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return
    if (event.key === 'Escape') end(null)
    else if (event.key === 'Enter') save()
    else if (event.key === 'Tab' && !event.shiftKey) save('next')
    else return event.stopPropagation()
    event.preventDefault()
    event.stopPropagation()
  }
  const common = {
    ref: input,
    className: styles.editor,
    'aria-label': t.leads.edit(t.leads.fields[field], nameOf(lead)),
    value: text,
    onKeyDown,
    'aria-invalid': wrong !== null || undefined,
    onBlur: () => {
      save()
      // Who leaves what cannot be saved has been told; the cell shows what is saved.
      end(null)
    },
  }
  if (choices === null) {
    return (
      <>
        <input
          {...common}
          type={field === 'phone' ? 'tel' : field === 'email' ? 'email' : 'text'}
          inputMode={isNumeric(field) ? 'decimal' : undefined}
          onChange={(event) => setText(event.currentTarget.value)}
        />
        <Suspense>{meant !== null && <Meant words={meant} input={input} />}</Suspense>
      </>
    )
  }
  return (
    <select {...common} onChange={(event) => setText(event.currentTarget.value)}>
      {choices.map(({ value, label }) => (
        <option key={value} value={value}>
          {label}
        </option>
      ))}
    </select>
  )
}
