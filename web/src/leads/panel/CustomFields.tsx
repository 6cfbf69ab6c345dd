import { ActionIcon, Button, TextInput } from '@mantine/core'
import { IconPlus, IconTag, IconX } from '@tabler/icons-react'
import { Suspense, useEffect, useState } from 'react'
import { type LeadField, useLeadFields } from '../../data/lead-fields.ts'
import type { Lead } from '../../data/leads.ts'
import { mayIn } from '../../session/session.ts'
import type { NewField } from '../../shared/fields/FieldPanel.tsx'
import { t } from '../../text/index.ts'
import {
  fits,
  guessedType,
  keyOfName,
  readTyped,
  shownValue,
  typedValue,
  wrongTyped,
} from '../../ui/format/custom-value.ts'
import { sentenceFor } from '../../ui/format/failure-words.ts'
import { customName } from '../../ui/format/lead-words.ts'
import { KeysHeld } from '../../ui/overlay/keys-held.ts'
import { whenWanted } from '../../ui/overlay/later.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import type { LeadVerbs } from '../fields/change.ts'
import { LaterFieldInput } from '../fields/later-input.ts'
import styles from './LeadPanel.module.css'

const FieldPanel = whenWanted(async () => {
  const { FieldPanel: panel } = await import('../../shared/fields/FieldPanel.tsx')
  return { default: panel }
})

const most = 10

type CustomField = NonNullable<Lead['customFields']>[number]
type Value = string | boolean
/** Answers the error, null when it was kept. */
type Save = (key: string, value: Value | null) => Promise<unknown>

/** What a lead has beyond the fields that all have: those that the workspace defines, by their types, then the others. */
export function CustomFields({ lead, verbs }: { lead: Lead; verbs: LeadVerbs }) {
  const [isAdding, setAdding] = useState(false)
  const defined = useLeadFields(useWorkspaceId())
  const has = new Map((lead.customFields ?? []).map((field) => [field.key, field]))
  const shown = defined.filter(
    ({ key, isArchived, shownIn }) => !isArchived && (has.has(key) || shownIn.includes('panel')),
  )
  const others = [...has.values()].filter(({ key }) => shown.every((field) => field.key !== key))
  const save: Save = (key, value) => verbs.change(lead, { customFieldValues: { [key]: value } })
  return (
    <section>
      <h3 className={styles.heading}>{t.leads.panel.custom}</h3>
      <Suspense>
        {shown.map((field) => (
          <DefinedField key={field.id} field={field} value={has.get(field.key)?.value} save={save} />
        ))}
      </Suspense>
      {shown.length > 0 && others.length > 0 && <h4 className={styles.subheading}>{t.fields.undefinedOnes}</h4>}
      {others.map((field) => (
        <OtherField
          key={`${field.key} ${String(field.value)}`}
          field={field}
          isArchived={defined.some(({ key }) => key === field.key)}
          save={save}
        />
      ))}
      {isAdding && <AddField save={save} close={() => setAdding(false)} />}
      {!isAdding && has.size < most && (
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

function DefinedField({ field, value, save }: { field: LeadField; value: Value | undefined; save: Save }) {
  const saved = typedValue(field, value)
  const [text, setText] = useState(saved)
  const [error, setError] = useState<string | null>(null)
  const [isTyping, setTyping] = useState(false)
  // What others change shows, but never over what is being typed or was refused.
  useEffect(() => {
    if (!isTyping && error === null) setText(saved)
  }, [saved, isTyping, error])
  const keep = async (typed: string) => {
    setTyping(false)
    if (typed === saved) return setError(null)
    const wrong = wrongTyped(field, typed)
    if (wrong !== null) return setError(wrong)
    const refusal = await save(field.key, readTyped(field, typed) ?? null)
    setError(refusal === null ? null : sentenceFor(refusal))
  }
  const isUnfit = value !== undefined && text === saved && !fits(field, value)
  return (
    <div className={styles.defined}>
      <LaterFieldInput
        field={field}
        text={text}
        error={error}
        note={isUnfit ? t.fields.unfit(t.fields.types[field.type]) : undefined}
        size="xs"
        type={(typed) => {
          setTyping(true)
          setError(null)
          setText(typed)
        }}
        save={(typed) => void keep(typed)}
        undo={() => {
          setText(saved)
          setTyping(false)
          setError(null)
        }}
      />
    </div>
  )
}

function OtherField({ field, isArchived, save }: { field: CustomField; isArchived: boolean; save: Save }) {
  const { key, value } = field
  const name = customName(field)
  const shown = shownValue({ type: typeof value === 'boolean' ? 'boolean' : 'text', choices: [] }, value, null)
  const [text, setText] = useState(shown)
  const [error, setError] = useState<string | null>(null)
  const leave = async () => {
    if (text === shown) return
    const refusal = await save(key, text)
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
      {!isArchived && <DefineButton field={field} />}
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={t.leads.panel.removeCustom(name)}
        onClick={() => void save(key, null)}
      >
        <IconX size={14} />
      </ActionIcon>
    </div>
  )
}

/** For admins: makes a field of the workspace of what this lead has. */
function DefineButton({ field }: { field: CustomField }) {
  const [isOpen, setOpen] = useState(false)
  const workspaceId = useWorkspaceId()
  if (!mayIn(workspaceId, 'admin')) return null
  const name = customName(field)
  return (
    <>
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={t.fields.define(name)}
        title={t.fields.define(name)}
        onClick={() => setOpen(true)}
      >
        <IconTag size={14} />
      </ActionIcon>
      {isOpen && (
        <Suspense fallback={<KeysHeld />}>
          <FieldPanel field={guessOf(field, name)} close={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  )
}

function guessOf({ key, type, value }: CustomField, label: string): NewField {
  const guessed = type === 'textarea' || type === 'text' ? guessedType(value) : type
  const chosen = guessed === 'multiselect' ? String(value).split(', ') : guessed === 'select' ? [String(value)] : []
  return { key, label, type: guessed, choices: chosen }
}

function AddField({ save, close }: { save: Save; close(): void }) {
  const [name, setName] = useState('')
  const [value, setValue] = useState('')
  const [error, setError] = useState<string | null>(null)
  const key = keyOfName(name)
  const submit = async () => {
    const refusal = await save(key, value)
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
        value={name}
        error={error}
        data-autofocus
        onChange={(event) => setName(event.currentTarget.value)}
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
        <Button type="submit" size="compact-sm" disabled={key === '' || value.trim() === ''}>
          {t.common.save}
        </Button>
      </div>
    </form>
  )
}
