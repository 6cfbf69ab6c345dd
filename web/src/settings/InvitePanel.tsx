import { Button, Radio, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { invitationsKey, invite } from '../data/invitations.ts'
import type { Role } from '../session/session.ts'
import { t } from '../text/index.ts'
import { Copyable } from '../ui/Copyable.tsx'
import { complain } from '../ui/overlay/notices.tsx'
import { SidePanel } from '../ui/page/SidePanel.tsx'
import { useDraft } from '../ui/use-draft.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { rolesFor } from './roles.ts'

/** Asks whom to invite, then shows the link, which is the only time that it can be seen. */
export function InvitePanel({ close }: { close(): void }) {
  const workspaceId = useWorkspaceId()
  const texts = t.settings.members
  const queries = useQueryClient()
  const draft = useDraft({ email: '', role: 'member' as Role })
  const { value, set, errorOf } = draft
  const create = useMutation({
    mutationFn: () => invite(workspaceId, value.email.trim(), value.role),
    onSuccess: () => void queries.invalidateQueries({ queryKey: invitationsKey(workspaceId) }),
    onError: (error) => draft.refuse(error) || complain(error),
  })
  if (create.data !== undefined) {
    return (
      <SidePanel
        title={texts.linkTitle(create.data.invitation.email)}
        close={close}
        footer={<Button onClick={close}>{texts.done}</Button>}
      >
        <Text size="md">{texts.linkHelp}</Text>
        <Copyable value={create.data.url} label={texts.link} />
      </SidePanel>
    )
  }
  return (
    <SidePanel
      title={texts.invite}
      close={close}
      submit={() => create.mutate()}
      footer={
        <>
          <Button variant="default" onClick={close}>
            {t.common.cancel}
          </Button>
          <Button type="submit" loading={create.isPending}>
            {texts.makeLink}
          </Button>
        </>
      }
    >
      <TextInput
        type="email"
        label={texts.email}
        value={value.email}
        onChange={(event) => set({ email: event.currentTarget.value })}
        error={errorOf('email')}
        autoComplete="off"
        data-autofocus
      />
      <Radio.Group label={texts.role} value={value.role} onChange={(role) => set({ role: role as Role })}>
        <Stack gap={10} mt={6}>
          {rolesFor(workspaceId).map((role) => (
            <Radio key={role} value={role} label={t.settings.roles[role]} description={t.settings.roleHelp[role]} />
          ))}
        </Stack>
      </Radio.Group>
    </SidePanel>
  )
}
