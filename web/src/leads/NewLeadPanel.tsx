import { Select, Textarea, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Suspense } from 'react'
import type { LeadField } from '../data/lead-fields.ts'
import { createLead, type Lead, leadsKey, type NewLead, useDuplicateCheck } from '../data/leads.ts'
import { t } from '../text/index.ts'
import { parseAmount } from '../ui/format/amount.ts'
import { parseTyped, validateTyped } from '../ui/format/custom-value.ts'
import { prefetchedComponent } from '../ui/overlay/lazy.ts'
import { showError, showToast } from '../ui/overlay/toasts.tsx'
import { PanelButtons } from '../ui/page/PanelButtons.tsx'
import { SidePanel } from '../ui/page/SidePanel.tsx'
import { useDraft } from '../ui/use-draft.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { choicesOf, type FieldContext, validateField } from './fields/columns.tsx'
import { nameOf } from './fields/lead.ts'
import { DuplicateList } from './panel/Duplicates.tsx'
import { amountProps } from './panel/LeadFields.tsx'

// Not needed to render the list.
const LazyFieldInput = prefetchedComponent(async () => ({
  default: (await import('./fields/FieldInput.tsx')).FieldInput,
}))

interface NewLeadPanelProps {
  context: FieldContext
  close(): void
  open(lead: Lead): void
}

const blank = {
  firstName: '',
  lastName: '',
  phone: '',
  email: '',
  status: '',
  source: 'other',
  assignedTo: '',
  estimatedValue: '',
  notes: '',
  /** Input of custom fields by key. */
  customFieldValues: {} as Readonly<Record<string, string>>,
}
type LeadDraft = typeof blank

const debounceMs = 250

export function NewLeadPanel({ context, close, open }: NewLeadPanelProps) {
  const workspaceId = useWorkspaceId()
  const queries = useQueryClient()
  const draft = useDraft<LeadDraft>({ ...blank, status: context.statuses[0] ?? 'new' })
  const { value, set, errorOf } = draft
  const own = context.fields.filter((field) => !field.isArchived && (field.required || field.shownIn.includes('forms')))
  const [typed] = useDebouncedValue({ phone: value.phone.trim(), email: value.email.trim() }, debounceMs)
  const { data: duplicates = [] } = useDuplicateCheck(workspaceId, duplicateName(typed))
  const create = useMutation({
    mutationFn: () => createLead(workspaceId, bodyOf(value, own)),
    onSuccess: (lead) => {
      showToast(t.leads.created({ name: nameOf(lead) }))
      void queries.invalidateQueries({ queryKey: leadsKey(workspaceId) })
      open(lead)
    },
    onError: (error) => draft.applyError(error) || showError(error),
  })
  const wrongAmount = validateField('estimatedValue', value.estimatedValue) ?? undefined
  const wrongOwn = own.some((field) => validateTyped(field, value.customFieldValues[field.key] ?? '') !== null)
  const text = (field: Exclude<keyof LeadDraft, 'customFieldValues'>) => ({
    label: t.leads.fields[field],
    value: value[field],
    error: errorOf(field),
    onChange: ({ currentTarget }: { currentTarget: { value: string } }) => set({ [field]: currentTarget.value }),
  })
  const choice = (field: 'status' | 'source' | 'assignedTo') => (
    <Select
      label={t.leads.fields[field]}
      data={choicesOf(field, context, value[field]) ?? []}
      value={value[field]}
      allowDeselect={false}
      onChange={(chosen) => set({ [field]: chosen ?? '' })}
      error={errorOf(field)}
    />
  )
  return (
    <SidePanel
      title={t.leads.create}
      close={close}
      submit={() => wrongAmount === undefined && !wrongOwn && create.mutate()}
      footer={
        <PanelButtons
          close={close}
          action={t.common.create}
          isBusy={create.isPending}
          disabled={value.firstName.trim() === ''}
        />
      }
    >
      <TextInput {...text('firstName')} data-autofocus required withAsterisk={false} />
      <TextInput {...text('lastName')} />
      <TextInput {...text('phone')} type="tel" placeholder="+55 81 99123-4567" />
      <TextInput {...text('email')} type="email" />
      <DuplicateList duplicates={duplicates} open={open} />
      {choice('status')}
      {choice('source')}
      {choice('assignedTo')}
      <TextInput
        {...text('estimatedValue')}
        error={wrongAmount ?? errorOf('estimatedValue')}
        {...amountProps('estimatedValue', value.estimatedValue, context.currency)}
      />
      <Textarea {...text('notes')} autosize minRows={3} />
      <Suspense>
        {own.map((field) => {
          const typed = value.customFieldValues[field.key] ?? ''
          return (
            <LazyFieldInput
              key={field.id}
              field={field}
              text={typed}
              error={validateTyped(field, typed) ?? draft.issueAt(`customFieldValues.${field.key}`)}
              type={(next) => set({ customFieldValues: { ...value.customFieldValues, [field.key]: next } })}
            />
          )
        })}
      </Suspense>
    </SidePanel>
  )
}

function bodyOf(
  { firstName, status, source, estimatedValue, customFieldValues, ...others }: LeadDraft,
  own: readonly LeadField[],
): NewLead {
  const custom = own.flatMap((field) => {
    const read = parseTyped(field, customFieldValues[field.key] ?? '')
    return read === null || read === undefined ? [] : [[field.key, read] as const]
  })
  const filled = Object.entries(others).filter(([, text]) => text.trim() !== '')
  const amount = parseAmount(estimatedValue) ?? null
  return {
    ...Object.fromEntries(filled),
    firstName,
    status,
    source: source as Lead['source'],
    ...(amount !== null && { estimatedValue: amount }),
    ...(custom.length > 0 && { customFieldValues: Object.fromEntries(custom) }),
  }
}

// Incomplete numbers are not looked up.
function duplicateName({ phone, email }: { phone: string; email: string }) {
  return {
    ...(phone.replace(/\D/g, '').length >= 8 && { phone }),
    ...(/.@./.test(email) && { email }),
  }
}
