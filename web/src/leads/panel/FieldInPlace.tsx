import { Select, Textarea, TextInput } from '@mantine/core'
import { type KeyboardEvent, useEffect, useId, useLayoutEffect, useRef, useState } from 'react'
import type { Lead } from '../../data/leads.ts'
import { t } from '../../text/index.ts'
import { shownAmount } from '../../ui/format/amount.ts'
import { sentenceFor } from '../../ui/format/failure-words.ts'
import { shownPhone } from '../../ui/format/phone.ts'
import type { LeadVerbs } from '../fields/change.ts'
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
import styles from './LeadPanel.module.css'
import { PhoneActions } from './PhoneActions.tsx'

interface FieldInPlaceProps {
  field: FieldName
  lead: Lead
  context: FieldContext
  verbs: LeadVerbs
}

/**
 * A value as text, which is a field while somebody is in it: leaving it or Enter saves, Escape takes back, and what was
 * refused stays with the reason.
 */
export function FieldInPlace({ field, lead, context, verbs }: FieldInPlaceProps) {
  const id = useId()
  const edit = useFieldEdit(field, lead, verbs)
  const { text, error, isHere, saved } = edit
  const input = useRef<HTMLInputElement>(null)
  const shown = shownText(lead, field, context.currency)
  // What was selected as it came is selected still when it is written otherwise than it is read.
  // biome-ignore lint/correctness/useExhaustiveDependencies: as somebody comes in, and not while they write
  useLayoutEffect(() => {
    if (isHere && shown !== text) input.current?.select()
  }, [isHere])
  const choices = choicesOf(field, context, saved)
  const common = {
    id,
    size: 'xs' as const,
    variant: 'unstyled',
    error,
    classNames: { input: styles.value ?? '', error: styles.error ?? '' },
  }
  return (
    <div className={styles.field}>
      <label htmlFor={id}>{t.leads.fields[field]}</label>
      <div className={styles.place}>
        {choices !== null ? (
          <Select
            {...common}
            data={choices}
            value={text}
            allowDeselect={false}
            rightSectionWidth={0}
            rightSection={<span />}
            onChange={(chosen) => edit.choose(chosen ?? '')}
          />
        ) : field === 'notes' ? (
          <Textarea {...common} {...edit.handlers} value={text} placeholder="–" autosize minRows={1} maxRows={10} />
        ) : (
          <TextInput
            {...common}
            {...edit.handlers}
            ref={input}
            value={isHere || error !== null ? text : shown}
            placeholder="–"
            dir="auto"
            type={field === 'phone' ? 'tel' : field === 'email' ? 'email' : 'text'}
            inputMode={isNumeric(field) ? 'decimal' : undefined}
            description={isHere ? readAs(field, text, context.currency) : null}
            inputWrapperOrder={['label', 'input', 'description', 'error']}
          />
        )}
        {field === 'phone' && lead.phone !== null && <PhoneActions phone={lead.phone} />}
      </div>
    </div>
  )
}

/** A value as people read it, while nobody is writing. */
function shownText(lead: Lead, field: FieldName, currency: string | null): string {
  const value = lead[field]
  if (value === null) return ''
  if (typeof value === 'number') return shownAmount(value, currency)
  return field === 'phone' ? shownPhone(value) : value
}

function useFieldEdit(field: FieldName, lead: Lead, verbs: LeadVerbs) {
  const saved = textOf(lead, field)
  const [text, setText] = useState(saved)
  const [error, setError] = useState<string | null>(null)
  const [isHere, setHere] = useState(false)
  // What others change shows, but never over what is being typed or was refused.
  useEffect(() => {
    if (!isHere && error === null) setText(saved)
  }, [saved, isHere, error])
  const save = async (typed: string) => {
    const wrong = wrongIn(field, typed)
    if (wrong !== null) return setError(wrong)
    const changes = changesOf(lead, field, typed)
    if (changes === null) return setError(null)
    const refusal = await verbs.change(lead, changes)
    setError(refusal === null ? null : sentenceFor(refusal))
  }
  return {
    ...{ saved, text, error, isHere },
    choose: (chosen: string) => {
      setText(chosen)
      void save(chosen)
    },
    handlers: {
      onFocus: () => setHere(true),
      onBlur: () => {
        setHere(false)
        void save(text)
      },
      onChange: ({ currentTarget }: { currentTarget: { value: string } }) => {
        setError(null)
        setText(currentTarget.value)
      },
      onKeyDown: (event: KeyboardEvent<HTMLElement>) => {
        if (event.nativeEvent.isComposing) return
        if (event.key === 'Escape') {
          setText(saved)
          setError(null)
          event.stopPropagation()
        }
        if (event.key === 'Enter' && field !== 'notes') event.currentTarget.blur()
      },
    },
  }
}
