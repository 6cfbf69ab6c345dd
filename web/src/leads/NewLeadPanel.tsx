import { Select, Textarea, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Suspense } from 'react'
import type { LeadField } from '../data/lead-fields.ts'
import { createLead, type Lead, leadsKey, type NewLead, useDuplicateCheck } from '../data/leads.ts'
import { language, t } from '../text/index.ts'
import { textField } from '../ui/draft-fields.ts'
import { currencySign, parseAmount } from '../ui/format/amount.ts'
import { type FieldRule, interpretTyped, parseTyped, validateTyped } from '../ui/format/custom-value.ts'
import { prefetchedComponent } from '../ui/overlay/lazy.ts'
import { showError, showToast } from '../ui/overlay/toasts.tsx'
import { PanelButtons } from '../ui/page/PanelButtons.tsx'
import { SidePanel } from '../ui/page/SidePanel.tsx'
import { useDraft } from '../ui/use-draft.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { choicesOf, type FieldContext } from './fields/columns.tsx'
import { nameOf } from './fields/lead.ts'
import { DuplicateList } from './panel/Duplicates.tsx'

// Not needed to render the list.
const FieldInput = prefetchedComponent(() => import('./fields/FieldInput.tsx'))

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

const amountRule: FieldRule = { type: 'amount', choices: [] }

const debounceMs = 250

export default function NewLeadPanel({ context, close, open }: NewLeadPanelProps) {
  const workspaceId = useWorkspaceId()
  const queries = useQueryClient()
  const draft = useDraft({ ...blank, status: context.statuses[0] ?? 'new' })
  const { value, set, errorOf } = draft
  const own = context.fields.filter((field) => !field.isArchived && (field.required || field.shownIn.includes('forms')))
  const create = useMutation({
    mutationFn: () => createLead(workspaceId, bodyOf(value, own)),
    onSuccess: (lead) => {
      showToast(t.leads.created({ name: nameOf(lead) }))
      void queries.invalidateQueries({ queryKey: leadsKey(workspaceId) })
      open(lead)
    },
    onError: (error) => draft.applyError(error) || showError(error),
  })
  const wrongAmount = validateTyped(amountRule, value.estimatedValue) ?? undefined
  const wrongOwn = own.some((field) => validateTyped(field, value.customFieldValues[field.key] ?? '') !== null)
  const text = (field: Exclude<keyof LeadDraft, 'customFieldValues'>) => ({
    label: t.leads.fields[field],
    ...textField(draft, field),
  })
  const choice = (field: 'status' | 'source' | 'assignedTo') => (
    <Select
      key={field}
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
      <KnownLeads phone={value.phone.trim()} email={value.email.trim()} open={open} />
      {(['status', 'source', 'assignedTo'] as const).map(choice)}
      <TextInput
        {...text('estimatedValue')}
        error={wrongAmount ?? errorOf('estimatedValue')}
        inputMode="decimal"
        description={interpretTyped(amountRule, value.estimatedValue, context.currency)}
        leftSection={currencySign(context.currency, language)}
        inputWrapperOrder={['label', 'input', 'description', 'error']}
      />
      <Textarea {...text('notes')} autosize minRows={3} />
      <Suspense>
        {own.map((field) => {
          const typed = value.customFieldValues[field.key] ?? ''
          return (
            <FieldInput
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

/** Leads that already have this phone or e-mail; incomplete ones are not looked up. */
function KnownLeads({ phone, email, open }: { phone: string; email: string; open(lead: Lead): void }) {
  const [debouncedPhone] = useDebouncedValue(phone, debounceMs)
  const [debouncedEmail] = useDebouncedValue(email, debounceMs)
  const { data = [] } = useDuplicateCheck(useWorkspaceId(), {
    ...(debouncedPhone.replace(/\D/g, '').length >= 8 && { phone: debouncedPhone }),
    ...(/.@./.test(debouncedEmail) && { email: debouncedEmail }),
  })
  return <DuplicateList duplicates={data} open={open} />
}
