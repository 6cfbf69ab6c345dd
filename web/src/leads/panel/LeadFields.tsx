import { Select, Textarea, TextInput } from '@mantine/core'
import { type KeyboardEvent, useEffect, useState } from 'react'
import type { Lead } from '../../data/leads.ts'
import { t } from '../../text/index.ts'
import { sentenceFor } from '../../ui/format/failure-words.ts'
import { fullMoment } from '../../ui/format/time.ts'
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

interface LeadFieldsProps {
  lead: Lead
  context: FieldContext
  verbs: LeadVerbs
}

const pairs: readonly FieldName[] = [
  'firstName',
  'lastName',
  'phone',
  'email',
  'status',
  'priority',
  'assignedTo',
  'source',
  'adPlatform',
  'externalRef',
  'estimatedValue',
  'actualValue',
]

/** The fields of a lead; each is saved when it is left. */
export function LeadFields({ lead, context, verbs }: LeadFieldsProps) {
  return (
    <section className={styles.fields} aria-label={t.leads.panel.details}>
      {pairs.map((field) => (
        <Field key={field} field={field} lead={lead} context={context} verbs={verbs} />
      ))}
      <div className={styles.wide}>
        <Field field="notes" lead={lead} context={context} verbs={verbs} />
      </div>
      <dl className={styles.facts}>
        {(['uniqueCode', 'createdAt', 'updatedAt'] as const).map((fact) => (
          <div key={fact}>
            <dt>{t.leads.fields[fact]}</dt>
            <dd>{fact === 'uniqueCode' ? <code>{lead.uniqueCode}</code> : fullMoment(lead[fact])}</dd>
          </div>
        ))}
      </dl>
    </section>
  )
}

function Field({ field, lead, context, verbs }: LeadFieldsProps & { field: FieldName }) {
  const saved = textOf(lead, field)
  const [text, setText] = useState(saved)
  const [error, setError] = useState<string | null>(null)
  const [isTyping, setTyping] = useState(false)
  // What others change shows, but never over what is being typed or was refused.
  useEffect(() => {
    if (!isTyping && error === null) setText(saved)
  }, [saved, isTyping, error])
  const save = async (typed: string) => {
    setTyping(false)
    const wrong = wrongIn(field, typed)
    if (wrong !== null) return setError(wrong)
    const changes = changesOf(lead, field, typed)
    if (changes === null) return setError(null)
    const refusal = await verbs.change(lead, changes)
    setError(refusal === null ? null : sentenceFor(refusal))
  }
  const type = (typed: string) => {
    setTyping(true)
    setError(null)
    setText(typed)
  }
  const label = t.leads.fields[field]
  const choices = choicesOf(field, context, saved)
  if (choices !== null) {
    return (
      <Select
        size="xs"
        label={label}
        data={choices}
        value={text}
        allowDeselect={false}
        error={error}
        onChange={(chosen) => {
          setText(chosen ?? '')
          void save(chosen ?? '')
        }}
      />
    )
  }
  const common = {
    size: 'xs' as const,
    label,
    value: text,
    error,
    onBlur: () => void save(text),
    onKeyDown: (event: KeyboardEvent<HTMLElement>) => {
      if (event.nativeEvent.isComposing) return
      if (event.key === 'Escape') {
        setText(saved)
        setTyping(false)
        setError(null)
        event.stopPropagation()
      }
      if (event.key === 'Enter' && field !== 'notes') event.currentTarget.blur()
    },
  }
  if (field === 'notes') {
    return (
      <Textarea {...common} autosize minRows={2} maxRows={10} onChange={(event) => type(event.currentTarget.value)} />
    )
  }
  return (
    <TextInput
      {...common}
      type={field === 'phone' ? 'tel' : field === 'email' ? 'email' : 'text'}
      {...amountProps(field, text)}
      onChange={(event) => type(event.currentTarget.value)}
    />
  )
}

/** How numbers are typed, with what was read of them below. */
export const amountProps = (field: FieldName, text: string) => ({
  inputMode: isNumeric(field) ? ('decimal' as const) : undefined,
  description: readAs(field, text),
  inputWrapperOrder: ['label', 'input', 'description', 'error'] as ('label' | 'input' | 'description' | 'error')[],
})
