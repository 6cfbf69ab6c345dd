import { type LeadField, useLoadedFields } from '../../data/lead-fields.ts'
import type { Lead, LeadChanges } from '../../data/leads.ts'
import { useCurrency } from '../../data/workspace.ts'
import { OpenLink } from '../../shared/fields/OpenLink.tsx'
import { t } from '../../text/index.ts'
import { guessType, isValidValue, splitChoices } from '../../ui/format/custom-value.ts'
import { customFieldName } from '../../ui/format/lead-texts.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import styles from './Customer.module.css'
import { Choice, MultiChoice, TextValue } from './EditInPlace.tsx'
import { Facts, Section } from './Section.tsx'

type Value = string | boolean
type Field = Pick<LeadField, 'key' | 'label' | 'type' | 'choices' | 'required'>

/** Custom values of a lead: fields shown beside conversations by type, then values without a defined field as text. */
export function CustomFields({ lead, change }: { lead: Lead; change(changes: LeadChanges): void }) {
  const defined = useLoadedFields(useWorkspaceId())
  if (defined === undefined) return null
  const fields = [...defined.filter(isShown), ...undefinedOf(lead, defined)]
  if (fields.length === 0) return null
  const values = new Map((lead.customFields ?? []).map(({ key, value }) => [key, value]))
  return (
    <Section title={t.customer.fields}>
      <Facts
        facts={fields.map((field) => ({
          name: field.label,
          value: (
            <FieldValue
              field={field}
              value={values.get(field.key)}
              change={(value) => change({ customFieldValues: { [field.key]: value } })}
            />
          ),
        }))}
      />
    </Section>
  )
}

const isShown = ({ isArchived, shownIn }: LeadField): boolean => !isArchived && shownIn.includes('panel')

// Values of archived fields are hidden.
function undefinedOf({ customFields = [] }: Lead, defined: readonly LeadField[]): Field[] {
  const others = customFields.filter(({ key }) => defined.every((field) => field.key !== key))
  return others.map(({ key, label, value }) => {
    const type = guessType(value)
    const isPlain = type !== 'boolean' && type !== 'url' && type !== 'email'
    return { key, label: customFieldName({ key, label }), type: isPlain ? 'text' : type, choices: [], required: false }
  })
}

interface FieldValueProps {
  field: Field
  value: Value | undefined
  change(value: Value | null): void
}

function FieldValue(props: FieldValueProps) {
  const { field, value } = props
  const isUnfit = value !== undefined && !isValidValue(field, value)
  return (
    <>
      <Editor {...props} />
      {isUnfit && (
        <span className={styles.interpretation}>{t.fields.invalid({ type: t.fields.types[field.type] })}</span>
      )}
    </>
  )
}

function Editor({ field, value, change }: FieldValueProps) {
  const currency = useCurrency(useWorkspaceId())
  const { label, type, choices, required } = field
  const words = value === undefined ? undefined : String(value)
  const none = words !== undefined && required ? [] : [{ value: '', label: '–' }]
  if (type === 'boolean') {
    const yesOrNo = [
      { value: 'true', label: t.customer.yes },
      { value: 'false', label: t.customer.no },
    ]
    return (
      <Choice
        label={label}
        value={words ?? ''}
        options={[...none, ...yesOrNo]}
        change={(chosen) => change(chosen === '' ? null : chosen === 'true')}
      />
    )
  }
  if (type === 'select') {
    const options = [...none, ...choices.map((choice) => ({ value: choice, label: choice }))]
    return <Choice label={label} value={words ?? ''} options={options} change={(chosen) => change(chosen || null)} />
  }
  if (type === 'multiselect') {
    const set = (chosen: string[]) => change(chosen.join(', ') || null)
    return <MultiChoice label={label} chosen={splitChoices(words ?? '')} options={choices} change={set} />
  }
  return (
    <span className={styles.typed}>
      <TextValue label={label} rule={{ type, choices }} value={words} currency={currency} change={change} />
      <OpenLink field={field} text={words ?? ''} />
    </span>
  )
}
