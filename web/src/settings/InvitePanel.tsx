import { Button, Radio, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { invitationsKey, invite } from '../data/team/invitations.ts'
import { type Role, useSession } from '../session/session.ts'
import { t } from '../text/index.ts'
import { Copyable } from '../ui/Copyable.tsx'
import { showError } from '../ui/overlay/toasts.tsx'
import { PanelButtons } from '../ui/page/PanelButtons.tsx'
import { SidePanel } from '../ui/page/SidePanel.tsx'
import { useDraft } from '../ui/use-draft.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { rolesFor } from './roles.ts'

/** Creates an invitation, then shows its link. */
export function InvitePanel({ close }: { close(): void }) {
  const workspaceId = useWorkspaceId()
  const texts = t.settings.members
  const queries = useQueryClient()
  const { sendsMail } = useSession()
  const draft = useDraft({ email: '', role: 'member' as Role })
  const { value, set, errorOf } = draft
  const create = useMutation({
    mutationFn: () => invite(workspaceId, value.email.trim(), value.role),
    onSuccess: () => void queries.invalidateQueries({ queryKey: invitationsKey(workspaceId) }),
    onError: (error) => draft.applyError(error) || showError(error),
  })
  if (create.data !== undefined) {
    const { invitation, url } = create.data
    return <LinkPanel email={invitation.email} isMailed={invitation.mail !== null} url={url} close={close} />
  }
  return (
    <SidePanel
      title={texts.invite}
      close={close}
      submit={() => create.mutate()}
      footer={
        <PanelButtons
          close={close}
          action={sendsMail ? texts.sendInvitation : texts.createLink}
          isBusy={create.isPending}
        />
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

interface LinkPanelProps {
  email: string
  url: string
  /** Whether the link is also mailed, by an invitation that was just created. */
  isMailed?: boolean
  close(): void
}

/** Shows the link of an invitation, to be sent to the invited person. */
export function LinkPanel({ email, url, isMailed = false, close }: LinkPanelProps) {
  const texts = t.settings.members
  const { sendsMail } = useSession()
  const help = sendsMail ? texts.linkHelp : texts.notMailedHelp
  return (
    <SidePanel title={texts.linkTitle({ email })} close={close} footer={<Button onClick={close}>{texts.done}</Button>}>
      <Text size="md">{isMailed ? texts.mailedHelp({ email }) : help}</Text>
      <Copyable value={url} label={texts.link} />
    </SidePanel>
  )
}
