import { type FocusEvent, type KeyboardEvent, type RefObject, Suspense, useEffect, useRef, useState } from 'react'
import type { Lead } from '../../data/leads.ts'
import { t, withTexts } from '../../text/index.ts'
import { KeysHeld } from '../../ui/overlay/keys-held.ts'
import { later } from '../../ui/overlay/later.ts'
import { say } from '../../ui/overlay/notices.tsx'
import type { ColumnId } from '../fields/column-choice.ts'
import type { FieldContext } from '../fields/columns.tsx'
import { cellField, type Done, type EditField, type End, type Refused } from '../fields/edit-field.ts'
import styles from '../fields/LeadTable.module.css'
import { nameOf } from '../fields/lead.ts'

const Meant = later(() => import('./Meant.tsx'))
const SeveralCell = later(() => withTexts(() => import('./SeveralCell.tsx')))

interface CellEditorProps {
  lead: Lead
  id: ColumnId
  context: FieldContext
  refused: Refused | null
  done: Done
}

/** A cell that is being changed. Enter and leaving it save, Escape does not. */
export default function CellEditor({ lead, id, context, refused, done }: CellEditorProps) {
  const isDone = useRef(false)
  const field = cellField(id, lead, context)
  if (field === null) return null
  const end: End = (text, then = 'stay') => {
    if (isDone.current) return
    isDone.current = true
    const changes = text === null ? null : field.changes(text)
    done(lead, text === null || changes === null ? null : { text, changes }, then)
  }
  const label = t.leads.edit({ field: field.label, name: nameOf(lead) })
  if (field.kind !== 'several') return <OneValue {...{ field, label, refused, end }} />
  return (
    <Suspense fallback={<KeysHeld />}>
      <SeveralCell {...{ field, label, refused, end }} />
    </Suspense>
  )
}

interface OneValueProps {
  field: EditField
  label: string
  refused: Refused | null
  end: End
}

function OneValue({ field, label, refused, end }: OneValueProps) {
  const [text, setText] = useState(refused?.text ?? field.text)
  const [told, setTold] = useState(refused?.words ?? null)
  const input = useRef<HTMLInputElement & HTMLSelectElement>(null)
  useComing(input)
  const isGivenUp = useRef(false)
  const wrong = field.wrong(text)
  const save = (then: 'stay' | 'next' = 'stay') => (wrong === null ? end(text, then) : setTold(wrong))
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return
    isGivenUp.current = event.key === 'Escape'
    if (isGivenUp.current) end(null)
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
    'aria-invalid': wrong !== null || told !== null || undefined,
    onChange: ({ currentTarget }: { currentTarget: { value: string } }) => {
      setTold(null)
      setText(currentTarget.value)
    },
    onBlur: ({ currentTarget: { validity } }: FocusEvent<HTMLInputElement | HTMLSelectElement>) => {
      // Whoever leaves what cannot be saved is told of it; the cell shows what is saved.
      if (wrong !== null && !isGivenUp.current) say(wrong)
      end(wrong === null && told === null && !validity.badInput ? text : null)
    },
  }
  const words = told ?? field.meant(text)
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
      <Suspense>{words !== null && <Meant words={words} isWrong={told !== null} input={input} />}</Suspense>
    </>
  )
}

/** Whoever comes to change a value types over it. */
function useComing(input: RefObject<(HTMLInputElement & HTMLSelectElement) | null>): void {
  useEffect(() => {
    const element: HTMLElement | null = input.current
    element?.focus()
    if (element instanceof HTMLInputElement) element.select()
  }, [input])
}
