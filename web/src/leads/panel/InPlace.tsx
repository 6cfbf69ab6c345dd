import { MultiSelect, Select, Textarea, TextInput } from '@mantine/core'
import {
  type FocusEvent,
  type KeyboardEvent,
  type ReactNode,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import type { LeadChanges } from '../../data/leads.ts'
import { splitChoices } from '../../ui/format/custom-value.ts'
import { errorSentence } from '../../ui/format/error-texts.ts'
import type { EditField } from '../fields/edit-field.ts'
import styles from './LeadPanel.module.css'

interface InPlaceProps {
  field: EditField
  /** Returns the error of the server; null if saved. */
  save(changes: LeadChanges): Promise<unknown>
  /** Actions beside the value. */
  onDone?: ReactNode
}

/**
 * A value that is an input while focused: leaving it or Enter saves, Escape reverts, rejected input stays with the
 * error.
 */
export function InPlace({ field, save, onDone }: InPlaceProps) {
  const id = useId()
  const edit = useEdit(field, save)
  return (
    <div className={styles.field}>
      <label htmlFor={id} title={field.label}>
        {field.label}
      </label>
      <div className={styles.place}>
        <Input id={id} field={field} edit={edit} />
        {onDone}
      </div>
    </div>
  )
}

interface InputProps {
  id: string
  field: EditField
  edit: Edit
}

function Input({ id, field, edit }: InputProps) {
  const { text, error, isHere } = edit
  const { kind, choices } = field
  const common = {
    id,
    size: 'xs' as const,
    variant: 'unstyled',
    error,
    description: isHere ? (field.interpret(text) ?? field.note) : field.note,
    inputWrapperOrder: ['label', 'input', 'description', 'error'] as ('label' | 'input' | 'description' | 'error')[],
    classNames: { input: styles.value ?? '', error: styles.error ?? '', description: styles.error ?? '' },
  }
  const list = { data: [...choices], rightSectionWidth: 0, rightSection: <span />, searchable: choices.length > 9 }
  if (kind === 'choice') {
    const choose = (chosen: string | null) => edit.choose(chosen ?? '')
    const isKnown = choices.some(({ value }) => value === text)
    return <Select {...common} {...list} value={isKnown ? text : null} allowDeselect={false} onChange={choose} />
  }
  if (kind === 'several') {
    const chosen = splitChoices(text)
    const placeholder = chosen.length === 0 ? '–' : undefined
    return (
      <MultiSelect
        {...common}
        {...list}
        value={chosen}
        placeholder={placeholder}
        onChange={(next) => edit.choose(next.join(', '))}
      />
    )
  }
  if (kind === 'lines') {
    return <Textarea {...common} {...edit.handlers} value={text} placeholder="–" autosize minRows={1} maxRows={10} />
  }
  return <Line common={common} field={field} edit={edit} />
}

function Line({ common, field, edit }: Omit<InputProps, 'id'> & { common: object }) {
  const { text, error, isHere } = edit
  const { kind, shown } = field
  const input = useRef<HTMLInputElement>(null)
  const isWritten = isHere || error !== null
  const isDay = kind === 'date' && isWritten
  // Keeps the selection when the raw value replaces the formatted one.
  // biome-ignore lint/correctness/useExhaustiveDependencies: on focus, not while typing
  useLayoutEffect(() => {
    if (isHere && isDay) input.current?.focus()
    else if (isHere && shown !== text) input.current?.select()
  }, [isHere])
  return (
    <TextInput
      {...common}
      {...edit.handlers}
      // A date is edited in a separate input: changing the type of a focused input would lose key presses.
      key={isDay ? 'day' : 'text'}
      {...(kind === 'date' && !isDay && { onBlur: undefined })}
      ref={input}
      value={isWritten ? text : shown}
      placeholder="–"
      dir="auto"
      type={kind === 'number' || (kind === 'date' && !isDay) ? 'text' : kind}
      inputMode={kind === 'number' ? 'decimal' : undefined}
    />
  )
}

type Edit = ReturnType<typeof useEdit>

function useEdit(field: EditField, saveChanges: InPlaceProps['save']) {
  const saved = field.text
  const [text, setText] = useState(saved)
  const [error, setError] = useState<string | null>(null)
  const [isHere, setHere] = useState(false)
  // Changes by others are shown, but never overwrite input that is being typed or was rejected.
  useEffect(() => {
    if (!isHere && error === null) setText(saved)
  }, [saved, isHere, error])
  const save = async (typed: string) => {
    const wrong = field.validate(typed)
    if (wrong !== null) return setError(wrong)
    const changes = field.changes(typed)
    if (changes === null) return setError(null)
    const refusal = await saveChanges(changes)
    setError(refusal === null ? null : errorSentence(refusal))
  }
  const revert = () => {
    setText(saved)
    setError(null)
  }
  return {
    ...{ text, error, isHere },
    choose: (chosen: string) => {
      setText(chosen)
      void save(chosen)
    },
    handlers: {
      onFocus: () => setHere(true),
      onBlur: ({ currentTarget: { validity } }: FocusEvent<HTMLInputElement | HTMLTextAreaElement>) => {
        setHere(false)
        // An incomplete date is not saved.
        if (validity.badInput) revert()
        else void save(text)
      },
      onChange: ({ currentTarget }: { currentTarget: { value: string } }) => {
        setError(null)
        setText(currentTarget.value)
      },
      onKeyDown: (event: KeyboardEvent<HTMLElement>) => {
        if (event.nativeEvent.isComposing) return
        if (event.key === 'Escape') {
          revert()
          event.stopPropagation()
        }
        if (event.key === 'Enter' && field.kind !== 'lines') event.currentTarget.blur()
      },
    },
  }
}
