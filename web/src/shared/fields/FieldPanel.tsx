import { Button, Checkbox, Select, Stack, Textarea, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { leadFieldPlaceValues, leadFieldTypeValues } from '../../api/schema.ts'
import { changeLeadField, createLeadField, type LeadField, leadFieldsKey } from '../../data/lead-fields.ts'
import { t } from '../../text/index.ts'
import { textField } from '../../ui/draft-fields.ts'
import { type FieldType, hasChoices, keyFromName } from '../../ui/format/custom-value.ts'
import { showError, showToast } from '../../ui/overlay/toasts.tsx'
import { PanelButtons } from '../../ui/page/PanelButtons.tsx'
import { SidePanel } from '../../ui/page/SidePanel.tsx'
import { type Draft, useDraft } from '../../ui/use-draft.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'

/** Initial values of a new field. */
export interface NewField {
  /** Null: derived from the name. */
  key: string | null
  label: string
  type: FieldType
  choices: readonly string[]
}

export const blankField: NewField = { key: null, label: '', type: 'text', choices: [] }

interface FieldPanelProps {
  /** An existing field, or initial values of a new one. */
  field: LeadField | NewField
  close(): void
}

const isDefined = (field: LeadField | NewField): field is LeadField => 'id' in field

/** Creates or edits a custom field. */
export function FieldPanel({ field, close }: FieldPanelProps) {
  const workspaceId = useWorkspaceId()
  const queries = useQueryClient()
  const known = isDefined(field) ? field : null
  const draft = useDraft(fieldDraft(field))
  const done = async () => {
    await queries.invalidateQueries({ queryKey: leadFieldsKey(workspaceId) })
    close()
  }
  const { value } = draft
  const save = useMutation({
    mutationFn: () => {
      const { key, label, type, choices, required, shownIn } = value
      const next = { label, type, choices: hasChoices(type) ? linesOf(choices) : [], required, shownIn }
      return known === null
        ? createLeadField(workspaceId, { ...next, key: key || keyFromName(label) })
        : changeLeadField(workspaceId, known.id, next)
    },
    onSuccess: done,
    onError: (error) => draft.applyError(error) || showError(error),
  })
  const archive = useMutation({
    mutationFn: async () => known && changeLeadField(workspaceId, known.id, { isArchived: true }),
    onSuccess: () => {
      showToast(t.fields.isArchived({ name: field.label }))
      return done()
    },
    onError: showError,
  })
  return (
    <SidePanel
      title={known === null ? t.fields.create : t.fields.change({ name: known.label })}
      close={close}
      submit={() => save.mutate()}
      footer={
        <>
          {known !== null && !known.isArchived && (
            <Button variant="default" mr="auto" loading={archive.isPending} onClick={() => archive.mutate()}>
              {t.fields.archive}
            </Button>
          )}
          <PanelButtons
            close={close}
            action={t.common.save}
            isBusy={save.isPending}
            disabled={value.label.trim() === ''}
          />
        </>
      }
    >
      <Definition draft={draft} isNew={known === null} hasKey={field.key !== null} />
    </SidePanel>
  )
}

type FieldDraft = ReturnType<typeof fieldDraft>

const fieldDraft = (field: LeadField | NewField) => ({
  key: field.key ?? '',
  label: field.label,
  type: field.type,
  /** One per line, as typed. */
  choices: field.choices.join('\n'),
  required: isDefined(field) && field.required,
  shownIn: isDefined(field) ? field.shownIn : [...leadFieldPlaceValues],
})

function Definition({ draft, isNew, hasKey }: { draft: Draft<FieldDraft>; isNew: boolean; hasKey: boolean }) {
  const { value, set, errorOf } = draft
  return (
    <>
      <TextInput label={t.fields.name} {...textField(draft, 'label')} maxLength={80} data-autofocus />
      <TextInput
        label={t.fields.key}
        description={t.fields.keyHelp}
        {...textField(draft, 'key')}
        placeholder={keyFromName(value.label)}
        maxLength={40}
        disabled={!isNew || hasKey}
      />
      <Select
        label={t.fields.type}
        {...(!isNew && { description: t.fields.typeHelp })}
        data={leadFieldTypeValues.map((type) => ({ value: type, label: t.fields.types[type] }))}
        value={value.type}
        allowDeselect={false}
        onChange={(type) => type !== null && set({ type })}
        error={errorOf('type')}
      />
      {hasChoices(value.type) && (
        <Textarea
          label={t.fields.choices}
          description={t.fields.choicesHelp}
          autosize
          minRows={3}
          maxRows={12}
          {...textField(draft, 'choices')}
        />
      )}
      <Checkbox
        label={t.fields.required}
        description={t.fields.requiredHelp}
        checked={value.required}
        onChange={(event) => set({ required: event.currentTarget.checked })}
      />
      <Checkbox.Group
        label={t.fields.shownIn}
        value={value.shownIn}
        onChange={(chosen) => set({ shownIn: leadFieldPlaceValues.filter((place) => chosen.includes(place)) })}
      >
        <Stack gap={8} mt={6}>
          {leadFieldPlaceValues.map((place) => (
            <Checkbox key={place} value={place} label={t.fields.places[place]} />
          ))}
        </Stack>
      </Checkbox.Group>
    </>
  )
}

const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
