import { PasswordInput, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type NewConnection, useConnectionActs } from '../../data/connections.ts'
import { t } from '../../text/index.ts'
import { complain } from '../../ui/overlay/notices.tsx'
import { SidePanel } from '../../ui/page/SidePanel.tsx'
import { useDraft } from '../../ui/use-draft.ts'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { FormFooter } from './FormFooter.tsx'
import { filled } from './filled.ts'
import type { FormProps } from './form-props.ts'
import styles from './forms.module.css'

const blank = { name: '', numberId: '', apiKey: '', signingSecret: '', baseUrl: '' }

/** A number at a partner of the platform. Parley registers its webhook there. */
export function PartnerForm({ back, close, made }: FormProps) {
  const workspaceId = useWorkspaceId()
  const draft = useDraft(blank)
  const { value, set, errorOf } = draft
  const acts = useConnectionActs(workspaceId)
  const { fields, channels, check } = t.connections
  const create = useMutation({
    mutationFn: () => acts.create({ channel: 'partner', profile: '360dialog', ...filled(value) } as NewConnection),
    onSuccess: made,
    onError: (error) => draft.refuse(error) || complain(error),
  })
  const text = (field: keyof typeof blank) => ({
    value: value[field],
    error: errorOf(field),
    onChange: (event: { currentTarget: { value: string } }) => set({ [field]: event.currentTarget.value }),
    autoComplete: 'off',
  })
  return (
    <SidePanel
      title={channels.partner.name}
      close={close}
      submit={() => create.mutate()}
      footer={<FormFooter back={back} isBusy={create.isPending} action={check} />}
    >
      <p className={styles.help}>{channels.partner.where}</p>
      <TextInput label={fields.name} description={fields.nameHelp} data-autofocus required {...text('name')} />
      <TextInput label={fields.numberId} description={fields.partnerNumberIdHelp} required {...text('numberId')} />
      <PasswordInput label={fields.apiKey} description={fields.apiKeyHelp} required {...text('apiKey')} />
      <PasswordInput label={fields.signingSecret} description={fields.signingSecretHelp} {...text('signingSecret')} />
      <TextInput
        label={fields.baseUrl}
        description={fields.baseUrlHelp}
        placeholder="https://waba-v2.360dialog.io"
        {...text('baseUrl')}
      />
    </SidePanel>
  )
}
