import { MultiSelect, Select, Switch, TextInput } from '@mantine/core'
import type { KeyboardEvent } from 'react'
import type { LeadField } from '../../data/lead-fields.ts'
import { useCurrency } from '../../data/workspace.ts'
import { OpenLink } from '../../shared/fields/OpenLink.tsx'
import { language, t } from '../../text/index.ts'
import { currencySign, understood } from '../../ui/format/amount.ts'
import { chosenOf, isNumberType, withOwn } from '../../ui/format/custom-value.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'

interface FieldInputProps {
  field: Pick<LeadField, 'label' | 'type' | 'choices' | 'required'>
  /** What stands in it: choices with commas between them, `true` or `false`, else as typed. */
  text: string
  error: string | null | undefined
  /** How a value that is not of the type is told. */
  note?: string | undefined
  size?: 'xs' | 'sm'
  type(text: string): void
  /** What was typed or chosen is to be kept. */
  save?: (text: string) => void
  /** What was typed is given up. */
  undo?: () => void
}

/** The input that a field's type asks for. */
export function FieldInput(props: FieldInputProps) {
  const { field, text, error, note, size = 'sm', type, save } = props
  const common = { label: field.label, size, error, description: note, withAsterisk: field.required }
  const choose = (chosen: string) => {
    type(chosen)
    save?.(chosen)
  }
  if (field.type === 'boolean') {
    return (
      <Switch
        label={field.label}
        size={size}
        error={error}
        description={note}
        checked={text === 'true'}
        onChange={(event) => choose(String(event.currentTarget.checked))}
      />
    )
  }
  if (field.type === 'select') {
    return (
      <Select
        {...common}
        data={withOwn(field.choices, text === '' ? [] : [text])}
        value={text === '' ? null : text}
        clearable={!field.required}
        allowDeselect={false}
        searchable={field.choices.length > 8}
        onChange={(chosen) => choose(chosen ?? '')}
      />
    )
  }
  if (field.type === 'multiselect') {
    const chosen = chosenOf(text)
    return (
      <MultiSelect
        {...common}
        data={withOwn(field.choices, chosen)}
        value={chosen}
        searchable={field.choices.length > 8}
        onChange={(next) => choose(next.join(', '))}
      />
    )
  }
  return <TypedInput {...props} common={common} />
}

const inputTypes = { date: 'date', url: 'url', phone: 'tel', email: 'email' } as const

function TypedInput({
  field,
  text,
  note,
  type,
  save,
  undo,
  common,
}: FieldInputProps & { common: { label: string; description: string | undefined } }) {
  const currency = useCurrency(useWorkspaceId())
  const meant = field.type === 'amount' ? understood(text, language, currency) : null
  const description = note ?? (meant === null ? undefined : t.lead.readAs(meant))
  return (
    <TextInput
      {...common}
      description={description}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      inputMode={isNumberType(field.type) ? 'decimal' : undefined}
      type={field.type in inputTypes ? inputTypes[field.type as keyof typeof inputTypes] : 'text'}
      value={text}
      leftSection={field.type === 'amount' ? currencySign(currency, language) : undefined}
      rightSection={<OpenLink field={field} text={text} />}
      onChange={(event) => type(event.currentTarget.value)}
      onBlur={() => save?.(text)}
      onKeyDown={(event: KeyboardEvent<HTMLInputElement>) => {
        if (event.nativeEvent.isComposing || save === undefined) return
        if (event.key === 'Enter') event.currentTarget.blur()
        if (event.key !== 'Escape') return
        undo?.()
        event.stopPropagation()
      }}
    />
  )
}
