import { type FocusEvent, type KeyboardEvent, Suspense, useEffect, useRef, useState } from 'react'
import type { Lead } from '../../data/leads.ts'
import type { Column } from '../../shared/lead-view/conditions.ts'
import { t, withTexts } from '../../text/index.ts'
import { prefetchedComponent } from '../../ui/overlay/lazy.ts'
import { ShortcutsBlocked } from '../../ui/overlay/shortcuts-blocked.ts'
import { showToast } from '../../ui/overlay/toasts.tsx'
import type { FieldContext } from '../fields/columns.tsx'
import { cellField, type FinishCellEdit, type FinishTextEdit, type RejectedInput } from '../fields/edit-field.ts'
import styles from '../fields/LeadTable.module.css'
import { nameOf } from '../fields/lead.ts'
import type { ValueEditorProps } from './MultiValueCell.tsx'

const ParsedValue = prefetchedComponent(() => import('./ParsedValue.tsx'))
const MultiValueCell = prefetchedComponent(() => withTexts(() => import('./MultiValueCell.tsx')))

interface CellEditorProps {
  lead: Lead
  id: Column
  context: FieldContext
  rejected: RejectedInput | null
  onDone: FinishCellEdit
}

/** A cell being edited. Enter or leaving it saves, Escape does not. */
export default function CellEditor({ lead, id, context, rejected, onDone }: CellEditorProps) {
  const isDone = useRef(false)
  const field = cellField(id, lead, context)
  if (field === null) return null
  const finish: FinishTextEdit = (text, then = 'stay') => {
    if (isDone.current) return
    isDone.current = true
    const changes = text === null ? null : field.changes(text)
    onDone(lead, text === null || changes === null ? null : { text, changes }, then)
  }
  const label = t.leads.edit({ field: field.label, name: nameOf(lead) })
  if (field.kind !== 'several') return <OneValue {...{ field, label, rejected, finish }} />
  return (
    <Suspense fallback={<ShortcutsBlocked />}>
      <MultiValueCell {...{ field, label, rejected, finish }} />
    </Suspense>
  )
}

function OneValue({ field, label, rejected, finish }: ValueEditorProps) {
  const [text, setText] = useState(rejected?.text ?? field.text)
  const [message, setMessage] = useState(rejected?.message ?? null)
  const input = useRef<HTMLInputElement & HTMLSelectElement>(null)
  // Selects the value, so that typing replaces it.
  useEffect(() => {
    const element: HTMLElement | null = input.current
    element?.focus()
    if (element instanceof HTMLInputElement) element.select()
  }, [])
  const isGivenUp = useRef(false)
  const wrong = field.validate(text)
  const save = (then: 'stay' | 'next' = 'stay') => (wrong === null ? finish(text, then) : setMessage(wrong))
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return
    isGivenUp.current = event.key === 'Escape'
    if (isGivenUp.current) finish(null)
    else if (event.key === 'Enter') save()
    else if (event.key === 'Tab' && !event.shiftKey) save('next')
    else return event.stopPropagation()
    event.preventDefault()
    event.stopPropagation()
  }
  const common = {
    ref: input,
    className: styles.editor,
    'aria-label': label,
    value: text,
    onKeyDown,
    'aria-invalid': wrong !== null || message !== null || undefined,
    onChange: ({ currentTarget }: { currentTarget: { value: string } }) => {
      setMessage(null)
      setText(currentTarget.value)
    },
    onBlur: ({ currentTarget: { validity } }: FocusEvent<HTMLInputElement | HTMLSelectElement>) => {
      // Leaving an invalid value shows the error; the cell shows the saved value.
      if (wrong !== null && !isGivenUp.current) showToast(wrong)
      finish(wrong === null && message === null && !validity.badInput ? text : null)
    },
  }
  const hint = message ?? field.interpret(text)
  return (
    <>
      {field.kind === 'choice' ? (
        <select {...common}>
          {field.choices.map(({ value, label }) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      ) : (
        <input
          {...common}
          type={field.kind === 'number' || field.kind === 'lines' ? 'text' : field.kind}
          inputMode={field.kind === 'number' ? 'decimal' : undefined}
        />
      )}
      <Suspense>{hint !== null && <ParsedValue hint={hint} isWrong={message !== null} input={input} />}</Suspense>
    </>
  )
}
