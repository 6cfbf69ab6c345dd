import { Checkbox, Select, Textarea, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { FieldType } from '../data/forms.ts'
import { t } from '../text/index.ts'
import styles from './Builder.module.css'
import type { DraftField } from './draft.ts'
import { hasOptions, isLeadField, optionsOf, typesOf, uniqueKey, withType } from './fields.ts'

export interface FieldFormProps {
  field: DraftField
  /** Keys of the other fields. */
  usedKeys: string[]
  errorOf(part: string): string | undefined
  change(to: DraftField): void
}

/** Editor of one field: texts, type and options. */
export function FieldForm({ field, usedKeys, errorOf, change }: FieldFormProps) {
  const isOfLead = isLeadField(field.key)
  const types = typesOf(field.key)
  const rename = (label: string) =>
    change({ ...field, label, ...(!field.isKeyOwn && { key: uniqueKey(label, usedKeys) }) })
  const retype = (type: FieldType) =>
    change({ ...field, ...withType(field, type, Object.values(t.forms.optionSample)) })
  return (
    <div className={styles.form}>
      <TextInput
        label={t.forms.label}
        value={field.label}
        onChange={(event) => rename(event.currentTarget.value)}
        error={errorOf('label')}
        autoFocus
      />
      <div className={styles.pair}>
        <Select
          label={t.forms.type}
          data={types.map((type) => ({ value: type, label: t.forms.types[type] }))}
          value={field.type}
          disabled={types.length === 1}
          onChange={(type) => retype((type ?? field.type) as FieldType)}
          allowDeselect={false}
          error={errorOf('type')}
        />
        <TextInput
          label={t.forms.key}
          title={t.forms.keyHelp}
          value={field.key}
          disabled={isOfLead}
          onChange={(event) => change({ ...field, key: event.currentTarget.value, isKeyOwn: true })}
          error={errorOf('key')}
        />
      </div>
      {hasOptions(field.type) && (
        <Options
          options={field.options ?? []}
          change={(options) => change({ ...field, options })}
          error={errorOf('options')}
        />
      )}
      {!['boolean', 'multiselect', 'date'].includes(field.type) && (
        <TextInput
          label={t.forms.placeholder}
          value={field.placeholder ?? ''}
          onChange={(event) => change({ ...field, placeholder: event.currentTarget.value })}
        />
      )}
      <TextInput
        label={t.forms.help}
        value={field.help ?? ''}
        onChange={(event) => change({ ...field, help: event.currentTarget.value })}
      />
      <Checkbox
        label={t.forms.required}
        {...(field.key === 'firstName' && { description: t.forms.mustBeRequired })}
        disabled={field.key === 'firstName'}
        checked={field.required}
        onChange={(event) => change({ ...field, required: event.currentTarget.checked })}
      />
    </div>
  )
}

// Keeps the text as typed: empty lines may become options.
function Options(props: { options: string[]; change(to: string[]): void; error: string | undefined }) {
  const [text, setText] = useState(props.options.join('\n'))
  return (
    <Textarea
      label={t.forms.options}
      description={t.forms.optionsHelp}
      autosize
      minRows={2}
      value={text}
      onChange={(event) => {
        setText(event.currentTarget.value)
        props.change(optionsOf(event.currentTarget.value))
      }}
      error={props.error}
    />
  )
}
