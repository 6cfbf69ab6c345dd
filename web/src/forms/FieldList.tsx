import {
  ActionIcon,
  Button,
  Checkbox,
  Menu,
  Select,
  Textarea,
  TextInput,
  UnstyledButton,
  VisuallyHidden,
} from '@mantine/core'
import { IconArrowDown, IconArrowUp, IconChevronDown, IconGripVertical, IconPlus, IconTrash } from '@tabler/icons-react'
import { useState } from 'react'
import type { FieldType } from '../data/forms.ts'
import { type LeadField, useLeadFields } from '../data/lead-fields.ts'
import { t } from '../text/index.ts'
import { showUndoToast } from '../ui/overlay/toasts.tsx'
import type { Draft } from '../ui/use-draft.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import styles from './Builder.module.css'
import type { DraftField, FormDraft } from './draft.ts'
import {
  allTypes,
  formFieldOf,
  hasOptions,
  isLeadField,
  type LeadFieldKey,
  leadFields,
  maxFields,
  moveItem,
  optionsOf,
  typesOf,
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

interface FieldCardProps extends FieldFormProps {
  place: { at: number; count: number }
  isOpen: boolean
  toggle(): void
  move(by: number): void
  remove(): void
  drag(isOn: boolean): void
}

function FieldCard(props: FieldCardProps) {
  const { field, place, isOpen, errorOf, toggle, move, remove, drag } = props
  const { label, type, required, key } = field
  const isWrong = ['key', 'label', 'type', 'options'].some((part) => errorOf(part) !== undefined)
  const button = (name: string, Icon: typeof IconTrash, run: () => void, disabled: boolean) => (
    <ActionIcon variant="subtle" color="gray" disabled={disabled} onClick={run} aria-label={name}>
      <Icon size={16} />
    </ActionIcon>
  )
  return (
    <>
      <div className={styles.head}>
        <span
          className={styles.grip}
          draggable
          title={t.forms.drag}
          aria-hidden="true"
          onDragStart={(event) => {
            event.dataTransfer.effectAllowed = 'move'
            event.dataTransfer.setData('text/plain', label)
            drag(true)
          }}
          onDragEnd={() => drag(false)}
        >
          <IconGripVertical size={16} />
        </span>
        <UnstyledButton
          className={styles.name}
          aria-expanded={isOpen}
          onClick={toggle}
          onKeyDown={(event) => {
            if (!event.altKey || !['ArrowUp', 'ArrowDown'].includes(event.key)) return
            event.preventDefault()
            move(event.key === 'ArrowUp' ? -1 : 1)
          }}
        >
          <span>
            <VisuallyHidden>{t.common.edit} </VisuallyHidden>
            <strong>{label}</strong>
            {required && ' *'}
          </span>
          <span className={styles.kind} data-wrong={isWrong || undefined}>
            {t.forms.types[type]}
          </span>
          <IconChevronDown size={16} data-open={isOpen || undefined} className={styles.chevron ?? ''} />
        </UnstyledButton>
        {button(t.forms.moveUp({ label }), IconArrowUp, () => move(-1), place.at === 0)}
        {button(t.forms.moveDown({ label }), IconArrowDown, () => move(1), place.at === place.count - 1)}
        {button(t.forms.removeField({ label }), IconTrash, remove, key === 'firstName')}
      </div>
      {isOpen && <FieldForm {...props} />}
    </>
  )
}

interface FieldFormProps {
  field: DraftField
  /** Keys of the other fields. */
  usedKeys: string[]
  errorOf(part: string): string | undefined
  change(to: DraftField): void
}

/** Editor of one field: texts, type and options. */
function FieldForm({ field, usedKeys, errorOf, change }: FieldFormProps) {
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
