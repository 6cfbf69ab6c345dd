import { Button, Menu, VisuallyHidden } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useState } from 'react'
import type { FieldType } from '../data/forms.ts'
import { type LeadField, useLeadFields } from '../data/lead-fields.ts'
import { t } from '../text/index.ts'
import { showUndoToast } from '../ui/overlay/toasts.tsx'
import type { Draft } from '../ui/use-draft.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import styles from './Builder.module.css'
import type { DraftField, FormDraft } from './draft.ts'
import { FieldCard } from './FieldCard.tsx'
import {
  allTypes,
  formFieldOf,
  type LeadFieldKey,
  leadFields,
  maxFields,
  moveItem,
  uniqueKey,
  withType,
} from './fields.ts'

/** Ordered list of fields: drag with a pointer, or move with buttons or Alt and an arrow key. */
export function FieldList({ draft }: { draft: Draft<FormDraft> }) {
  const { fields } = draft.value
  const [openId, setOpenId] = useState<string | null>(null)
  const [dragged, setDragged] = useState<number | null>(null)
  const [announced, setAnnounced] = useState('')
  const put = (next: DraftField[]) => draft.set({ fields: next })
  const move = (from: number, to: number) => {
    if (to < 0 || to >= fields.length || from === to) return
    put(moveItem(fields, from, to))
    setAnnounced(t.forms.moved({ label: fields[from]?.label ?? '', place: to + 1 }))
  }
  const remove = (field: DraftField) => {
    put(fields.filter(({ id }) => id !== field.id))
    showUndoToast(t.forms.fieldRemoved({ label: field.label }), () => put(fields))
  }
  const add = (field: Omit<DraftField, 'id'>) => {
    const id = crypto.randomUUID()
    put([...fields, { ...field, id }])
    setOpenId(id)
  }
  return (
    <section className={styles.section}>
      <h2>{t.forms.fields}</h2>
      {draft.errorOf('fields') !== undefined && !fields.some((_, n) => hasOwnError(draft, n)) && (
        <p className={styles.error} role="alert">
          {draft.errorOf('fields')}
        </p>
      )}
      <ol className={styles.fields}>
        {fields.map((field, n) => (
          <li
            key={field.id}
            className={styles.field}
            data-dragged={dragged === n || undefined}
            onDragOver={(event) => {
              if (dragged === null) return
              event.preventDefault()
              if (dragged !== n) {
                move(dragged, n)
                setDragged(n)
              }
            }}
            onDrop={(event) => event.preventDefault()}
          >
            <FieldCard
              field={field}
              place={{ at: n, count: fields.length }}
              isOpen={openId === field.id}
              errorOf={(part) => draft.errorOf(`fields[${n}].${part}`)}
              toggle={() => setOpenId(openId === field.id ? null : field.id)}
              change={(next) => put(fields.map((one) => (one.id === field.id ? next : one)))}
              usedKeys={fields.filter(({ id }) => id !== field.id).map(({ key }) => key)}
              move={(by) => move(n, n + by)}
              remove={() => remove(field)}
              drag={(isOn) => setDragged(isOn ? n : null)}
            />
          </li>
        ))}
      </ol>
      <AddMenu fields={fields} add={add} />
      <VisuallyHidden role="status">{announced}</VisuallyHidden>
    </section>
  )
}

const parts = ['key', 'label', 'type', 'options'] as const
const hasOwnError = (draft: Draft<FormDraft>, n: number): boolean =>
  parts.some((part) => draft.errorOf(`fields[${n}].${part}`) !== undefined)

// Names with these prefixes are query parameters of the form's address.
const canBeInForm = ({ key, isArchived, shownIn }: LeadField): boolean =>
  !isArchived && shownIn.includes('forms') && !/^(?:k|utm)_/.test(key)

function AddMenu({ fields, add }: { fields: DraftField[]; add(field: Omit<DraftField, 'id'>): void }) {
  const keys = fields.map(({ key }) => key)
  const free = (Object.keys(leadFields) as LeadFieldKey[]).filter((key) => !keys.includes(key))
  const defined = useLeadFields(useWorkspaceId()).filter((field) => canBeInForm(field) && !keys.includes(field.key))
  const addLead = (key: LeadFieldKey) =>
    add({
      key,
      label: t.forms.leadFields[key],
      type: leadFields[key][0],
      required: key === 'firstName',
      isKeyOwn: true,
    })
  const addOwn = (type: FieldType) => {
    const label = t.forms.types[type]
    const field = { key: uniqueKey(label, keys), label, type, required: false }
    add({ ...withType(field, type, Object.values(t.forms.optionSample)), isKeyOwn: false })
  }
  return (
    <Menu position="bottom-start" width={220}>
      <Menu.Target>
        <Button variant="default" leftSection={<IconPlus size={16} />} disabled={fields.length >= maxFields}>
          {t.forms.addField}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {free.length > 0 && <Menu.Label>{t.forms.ofLead}</Menu.Label>}
        {free.map((key) => (
          <Menu.Item key={key} onClick={() => addLead(key)}>
            {t.forms.leadFields[key]}
          </Menu.Item>
        ))}
        {defined.length > 0 && <Menu.Label>{t.fields.ofWorkspace}</Menu.Label>}
        {defined.map((field) => (
          <Menu.Item key={field.id} onClick={() => add({ ...formFieldOf(field), isKeyOwn: true })}>
            {field.label}
          </Menu.Item>
        ))}
        <Menu.Label>{t.forms.custom}</Menu.Label>
        {allTypes.map((type) => (
          <Menu.Item key={type} onClick={() => addOwn(type)}>
            {t.forms.types[type]}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}
