import { ActionIcon, Button, Skeleton, TextInput } from '@mantine/core'
import { IconPlus, IconTag, IconX } from '@tabler/icons-react'
import { Suspense, useState } from 'react'
import { type LeadField, useLoadedFields } from '../../data/lead-fields.ts'
import type { Lead, LeadChanges } from '../../data/leads.ts'
import { hasRole } from '../../session/session.ts'
import { Form } from '../../shared/Form.tsx'
import type { NewField } from '../../shared/fields/FieldPanel.tsx'
import { OpenLink } from '../../shared/fields/OpenLink.tsx'
import { t } from '../../text/index.ts'
import { guessType, keyFromName } from '../../ui/format/custom-value.ts'
import { errorSentence } from '../../ui/format/error-texts.ts'
import { customFieldName } from '../../ui/format/lead-texts.ts'
import { lazyComponent } from '../../ui/overlay/lazy.ts'
import { ShortcutsBlocked } from '../../ui/overlay/shortcuts-blocked.ts'
import { showError } from '../../ui/overlay/toasts.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import type { LeadActions } from '../fields/change.ts'
import { customField, undefinedField } from '../fields/edit-field.ts'
import { InPlace } from './InPlace.tsx'
import styles from './LeadPanel.module.css'

const FieldPanel = lazyComponent(async () => {
  const { FieldPanel: panel } = await import('../../shared/fields/FieldPanel.tsx')
  return { default: panel }
})

const maxShown = 10

type CustomField = NonNullable<Lead['customFields']>[number]

interface CustomFieldsProps {
  lead: Lead
  currency: string | null
  actions: LeadActions
}

/** Custom fields of a lead: defined ones by type, then others. */
export function CustomFields(props: CustomFieldsProps) {
  const defined = useLoadedFields(useWorkspaceId())
  return (
    <section className={styles.customs}>
      <h3 className={styles.heading}>{t.leads.panel.custom}</h3>
      {/* Waits for the definitions: fields rendered without types would be replaced, losing input. */}
      {defined === undefined ? <Skeleton height={64} /> : <KnownFields {...props} defined={defined} />}
    </section>
  )
}

function KnownFields({ lead, currency, actions, defined }: CustomFieldsProps & { defined: readonly LeadField[] }) {
  const [isAdding, setAdding] = useState(false)
  const has = new Map((lead.customFields ?? []).map((field) => [field.key, field]))
  const shown = defined.filter(
    ({ key, isArchived, shownIn }) => !isArchived && (has.has(key) || shownIn.includes('panel')),
  )
  const others = [...has.values()].filter(({ key }) => shown.every((field) => field.key !== key))
  const save = (changes: LeadChanges) => actions.change(lead, changes)
  return (
    <>
      {shown.map((field) => {
        const edited = customField(field, lead, currency)
        return (
          <InPlace key={field.id} field={edited} save={save} onDone={<OpenLink field={field} text={edited.text} />} />
        )
      })}
      {shown.length > 0 && others.length > 0 && <h4 className={styles.subheading}>{t.fields.undefinedFields}</h4>}
      {others.map((field) => (
        <InPlace
          key={field.key}
          field={customField(undefinedField(field.key, customFieldName(field), field.value), lead, currency)}
          save={save}
          onDone={
            <UndefinedFieldActions
              field={field}
              isArchived={defined.some(({ key }) => key === field.key)}
              save={save}
            />
          }
        />
      ))}
      {isAdding && <AddField save={save} close={() => setAdding(false)} />}
      {!isAdding && has.size < maxShown && (
        <Button
          className={styles.more}
          variant="subtle"
          color="gray"
          size="compact-sm"
          leftSection={<IconPlus size={14} />}
          onClick={() => setAdding(true)}
        >
          {t.leads.panel.addCustom}
        </Button>
      )}
    </>
  )
}

interface UndefinedFieldActionsProps {
  field: CustomField
  isArchived: boolean
  save(changes: LeadChanges): Promise<unknown>
}

/** Actions on an undefined field: define or remove it. */
function UndefinedFieldActions({ field, isArchived, save }: UndefinedFieldActionsProps) {
  const remove = async () => {
    const refusal = await save({ customFieldValues: { [field.key]: null } })
    if (refusal !== null) showError(refusal)
  }
  return (
    <>
      {!isArchived && <DefineButton field={field} />}
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={t.leads.panel.removeCustom({ name: customFieldName(field) })}
        onClick={() => void remove()}
      >
        <IconX size={14} />
      </ActionIcon>
    </>
  )
}

/** Creates a field definition from a value; for admins. */
function DefineButton({ field }: { field: CustomField }) {
  const [isOpen, setOpen] = useState(false)
  const workspaceId = useWorkspaceId()
  if (!hasRole(workspaceId, 'admin')) return null
  const name = customFieldName(field)
  return (
    <>
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={t.fields.define({ name })}
        title={t.fields.define({ name })}
        onClick={() => setOpen(true)}
      >
        <IconTag size={14} />
      </ActionIcon>
      {isOpen && (
        <Suspense fallback={<ShortcutsBlocked />}>
          <FieldPanel field={guessField(field, name)} close={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  )
}

// Digits that are not numbers: never summed or grouped.
const isCode = /(?:^|_)(?:cep|zip|postal|postcode|code|codigo|ref|id|cpf|cnpj|dni|nif|order|pedido)(?:_|$)/

function guessField({ key, type, value }: CustomField, label: string): NewField {
  const guessed = type !== 'textarea' && type !== 'text' ? type : isCode.test(key) ? 'text' : guessType(value)
  const chosen = guessed === 'multiselect' ? String(value).split(', ') : guessed === 'select' ? [String(value)] : []
  return { key, label, type: guessed, choices: chosen }
}

function AddField({ save, close }: Pick<UndefinedFieldActionsProps, 'save'> & { close(): void }) {
  const [name, setName] = useState('')
  const [value, setValue] = useState('')
  const [error, setError] = useState<string | null>(null)
  const key = keyFromName(name)
  const submit = async () => {
    const refusal = await save({ customFieldValues: { [key]: value } })
    if (refusal === null) close()
    else setError(errorSentence(refusal))
  }
  return (
    <Form className={styles.newCustom} submit={submit}>
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
    </Form>
  )
}
