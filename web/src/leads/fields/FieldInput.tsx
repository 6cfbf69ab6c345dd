import { MultiSelect, Select, Switch, TextInput } from '@mantine/core'
import type { LeadField } from '../../data/lead-fields.ts'
import { useCurrency } from '../../data/workspace.ts'
import { OpenLink } from '../../shared/fields/OpenLink.tsx'
import { language } from '../../text/index.ts'
import { currencySign } from '../../ui/format/amount.ts'
import { interpretTyped, isNumberType, splitChoices, withCurrentChoices } from '../../ui/format/custom-value.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'

interface FieldInputProps {
  field: Pick<LeadField, 'label' | 'type' | 'choices' | 'required'>
  /** Current input: comma-separated options, `true` or `false`, otherwise text. */
  text: string
  error: string | null | undefined
  type(text: string): void
}

/** Input for the type of a field. */
export default function FieldInput(props: FieldInputProps) {
  const { field, text, error, type } = props
  const common = { label: field.label, error, withAsterisk: field.required }
  if (field.type === 'boolean') {
    return (
      <Switch
        label={field.label}
        error={error}
        checked={text === 'true'}
        onChange={(event) => type(String(event.currentTarget.checked))}
      />
    )
  }
  if (field.type === 'select') {
    return (
      <Select
        {...common}
        data={withCurrentChoices(field.choices, text === '' ? [] : [text])}
        value={text === '' ? null : text}
        clearable={!field.required}
        allowDeselect={false}
        searchable={field.choices.length > 8}
        onChange={(chosen) => type(chosen ?? '')}
      />
    )
  }
  if (field.type === 'multiselect') {
    const chosen = splitChoices(text)
    return (
      <MultiSelect
        {...common}
        data={withCurrentChoices(field.choices, chosen)}
        value={chosen}
        searchable={field.choices.length > 8}
        onChange={(next) => type(next.join(', '))}
      />
    )
  }
  return <TypedInput {...props} common={common} />
}

const inputTypes = { date: 'date', url: 'url', phone: 'tel', email: 'email' } as const

function TypedInput({ field, text, type, common }: FieldInputProps & { common: { label: string } }) {
  const currency = useCurrency(useWorkspaceId())
  return (
    <TextInput
      {...common}
      description={interpretTyped(field, text, currency)}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      inputMode={isNumberType(field.type) ? 'decimal' : undefined}
      type={field.type in inputTypes ? inputTypes[field.type as keyof typeof inputTypes] : 'text'}
      value={text}
      leftSection={field.type === 'amount' ? currencySign(currency, language) : undefined}
      rightSection={<OpenLink field={field} text={text} />}
      onChange={(event) => type(event.currentTarget.value)}
    />
  )
}
