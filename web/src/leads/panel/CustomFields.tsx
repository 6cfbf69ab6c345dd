import { ActionIcon, Button, TextInput } from '@mantine/core'
import { IconPlus, IconX } from '@tabler/icons-react'
import { useState } from 'react'
import type { Lead } from '../../data/leads.ts'
import { t } from '../../text/index.ts'
import { sentenceFor } from '../../ui/format/failure-words.ts'
import { customName } from '../../ui/format/lead-words.ts'
import type { LeadVerbs } from '../fields/change.ts'
import styles from './LeadPanel.module.css'

const most = 10

/** What a lead has beyond the fields that all have. */
export function CustomFields({ lead, verbs }: { lead: Lead; verbs: LeadVerbs }) {
  const [isAdding, setAdding] = useState(false)
  const fields = lead.customFields ?? []
  const save = (key: string, value: string | boolean | null) =>
    verbs.change(lead, { customFieldValues: { [key]: value } })
  return (
    <section>
      <h3 className={styles.heading}>{t.leads.panel.custom}</h3>
      {fields.map(({ key, label, value }) => (
        <CustomField
          key={`${key} ${String(value)}`}
          name={customName({ key, label })}
          value={value}
          save={(next) => save(key, next)}
        />
      ))}
      {isAdding && <NewField save={save} close={() => setAdding(false)} />}
      {!isAdding && fields.length < most && (
        <Button
          variant="subtle"
          color="gray"
          size="compact-sm"
          leftSection={<IconPlus size={14} />}
          onClick={() => setAdding(true)}
        >
          {t.leads.panel.addCustom}
        </Button>
      )}
    </section>
  )
}

interface CustomFieldProps {
  name: string
  value: string | boolean
  /** Returns the error, null when it was kept. */
  save(value: string | boolean | null): Promise<unknown>
}

function CustomField({ name, value, save }: CustomFieldProps) {
  const shown = typeof value === 'boolean' ? (value ? t.common.yes : t.common.no) : value
  const [text, setText] = useState(shown)
  const [error, setError] = useState<string | null>(null)
  const leave = async () => {
    if (text === shown) return
    const refusal = await save(text)
    setError(refusal === null ? null : sentenceFor(refusal))
  }
  return (
    <div className={styles.custom}>
      <TextInput
        size="xs"
        label={name}
        value={text}
        error={error}
        readOnly={typeof value === 'boolean'}
        onChange={(event) => setText(event.currentTarget.value)}
        onBlur={() => void leave()}
        onKeyDown={(event) => event.key === 'Enter' && event.currentTarget.blur()}
      />
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={t.leads.panel.removeCustom(name)}
        onClick={() => void save(null)}
      >
        <IconX size={14} />
      </ActionIcon>
    </div>
  )
}

interface NewFieldProps {
  save(key: string, value: string): Promise<unknown>
  close(): void
}

function NewField({ save, close }: NewFieldProps) {
  const [key, setKey] = useState('')
  const [value, setValue] = useState('')
  const [error, setError] = useState<string | null>(null)
  const submit = async () => {
    const refusal = await save(keyOf(key), value)
    if (refusal === null) close()
    else setError(sentenceFor(refusal))
  }
  return (
    <form
      className={styles.newCustom}
      onSubmit={(event) => {
        event.preventDefault()
        void submit()
      }}
    >
      <TextInput
        size="xs"
        label={t.leads.panel.customKey}
        value={key}
        error={error}
        data-autofocus
        onChange={(event) => setKey(event.currentTarget.value)}
      />
      <TextInput
        size="xs"
        label={t.leads.panel.customValue}
        value={value}
        onChange={(event) => setValue(event.currentTarget.value)}
      />
      <div className={styles.buttons}>
        <Button variant="default" size="compact-sm" onClick={close}>
          {t.common.cancel}
        </Button>
        <Button type="submit" size="compact-sm" disabled={keyOf(key) === '' || value.trim() === ''}>
          {t.common.save}
        </Button>
      </div>
    </form>
  )
}

// `Favourite colour` becomes `favourite_colour`, as the service names fields.
const keyOf = (name: string): string =>
  name
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^[_0-9]+|_$/g, '')
    .slice(0, 40)
