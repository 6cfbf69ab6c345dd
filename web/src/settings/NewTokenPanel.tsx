import { Radio, Stack, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { roleValues } from '../api/schema.ts'
import { createToken, type Token } from '../data/team/tokens.ts'
import type { Role } from '../session/session.ts'
import { t } from '../text/index.ts'
import { showError } from '../ui/overlay/toasts.tsx'
import { PanelButtons } from '../ui/page/PanelButtons.tsx'
import { SidePanel } from '../ui/page/SidePanel.tsx'
import { useDraft } from '../ui/use-draft.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'

interface NewTokenPanelProps {
  close(): void
  onCreated(response: { token: Token; value: string }): void
}

export function NewTokenPanel({ close, onCreated }: NewTokenPanelProps) {
  const workspaceId = useWorkspaceId()
  const texts = t.settings.tokens
  const draft = useDraft({ name: '', role: 'member' as Role, expiresAt: '' })
  const { value, set, errorOf } = draft
  const create = useMutation({
    mutationFn: () => {
      const expiresAt = value.expiresAt === '' ? null : new Date(value.expiresAt).toISOString()
      return createToken(workspaceId, { name: value.name.trim(), role: value.role, expiresAt })
    },
    onSuccess: onCreated,
    onError: (error) => draft.applyError(error) || showError(error),
  })
  return (
    <SidePanel
      title={texts.create}
      close={close}
      submit={() => create.mutate()}
      footer={<PanelButtons close={close} action={t.common.create} isBusy={create.isPending} />}
    >
      <TextInput
        label={texts.name}
        description={texts.nameHelp}
        value={value.name}
        maxLength={100}
        onChange={(event) => set({ name: event.currentTarget.value })}
        error={errorOf('name')}
        data-autofocus
      />
      <Radio.Group label={texts.role} value={value.role} onChange={(role) => set({ role: role as Role })}>
        <Stack gap={10} mt={6}>
          {roleValues.map((role) => (
            <Radio key={role} value={role} label={t.settings.roles[role]} description={t.settings.roleHelp[role]} />
          ))}
        </Stack>
      </Radio.Group>
      <TextInput
        type="datetime-local"
        label={texts.expires}
        description={texts.expiresHelp}
        value={value.expiresAt}
        onChange={(event) => set({ expiresAt: event.currentTarget.value })}
        error={errorOf('expiresAt')}
      />
    </SidePanel>
  )
}
