import { Button, PasswordInput, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { ApiError } from '../../api/api-error.ts'
import { type NewConnection, useConnectionActions } from '../../data/connections.ts'
import { t } from '../../text/index.ts'
import { reasonText } from '../../ui/format/error-texts.ts'
import { showError } from '../../ui/overlay/toasts.tsx'
import { useDraft } from '../../ui/use-draft.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import styles from './forms.module.css'
import { AddForm, type FormProps, filledFields, textField } from './forms.tsx'

const blank = { name: '', numberId: '', apiKey: '', signingSecret: '', baseUrl: '' }

/**
 * Form for a number at a partner of the platform, where Parley registers its webhook. Connects the number after checking
 * it with the platform; if that fails, only on request.
 */
export function PartnerForm({ onCreated, ...form }: FormProps) {
  const draft = useDraft(blank)
  const { fields, channels, check } = t.connections
  const actions = useConnectionActions(useWorkspaceId())
  const create = useMutation({
    mutationFn: (mustAnswer: boolean) =>
      actions.create({
        ...{ channel: 'partner', profile: '360dialog', ...filledFields(draft.value) },
        ...(mustAnswer && { mustAnswer }),
      } as NewConnection),
    onSuccess: onCreated,
    onError: (error) => reasonOf(error) !== null || draft.applyError(error) || showError(error),
  })
  const reason = reasonOf(create.error)
  return (
    <AddForm {...form} channel="partner" run={() => create.mutate(true)} isBusy={create.isPending} action={check}>
      <p className={styles.help}>{channels.partner.where}</p>
      <TextInput
        label={fields.name}
        description={fields.nameHelp}
        data-autofocus
        required
        {...textField(draft, 'name')}
      />
      <TextInput
        label={fields.numberId}
        description={fields.partnerNumberIdHelp}
        required
        {...textField(draft, 'numberId')}
      />
      <PasswordInput label={fields.apiKey} description={fields.apiKeyHelp} required {...textField(draft, 'apiKey')} />
      <PasswordInput
        label={fields.signingSecret}
        description={fields.signingSecretHelp}
        {...textField(draft, 'signingSecret')}
      />
      <TextInput
        label={fields.baseUrl}
        description={fields.baseUrlHelp}
        placeholder="https://waba-v2.360dialog.io"
        {...textField(draft, 'baseUrl')}
      />
      {reason !== null && <CheckFailed reason={reason} save={() => create.mutate(false)} />}
    </AddForm>
  )
}

const reasonOf = (error: unknown): string | null =>
  error instanceof ApiError && error.code === 'CHECK_FAILED' ? String(error.data.reason) : null

/** The failed check, and a button to connect anyway. */
function CheckFailed({ reason, save }: { reason: string; save(): void }) {
  const { title, help, keepAnyway } = t.connections.checkFailed
  return (
    <div className={styles.failed} role="alert">
      <strong>{title}</strong>
      <span>
        {reasonText(reason)}. {help}
      </span>
      <Button size="compact-sm" variant="default" onClick={save}>
        {keepAnyway}
      </Button>
    </div>
  )
}
