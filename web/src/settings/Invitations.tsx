import { Button, Text, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import {
  copyInvitationLink,
  type Invitation,
  invitationsKey,
  invite,
  mailInvitation,
  useInvitations,
  withdrawInvitation,
} from '../data/team/invitations.ts'
import { currentSession, hasRole, type Role, useSession } from '../session/session.ts'
import { CreatedBy } from '../shared/CreatedBy.tsx'
import { t } from '../text/index.ts'
import { Chip } from '../ui/Chip.tsx'
import { Copyable } from '../ui/Copyable.tsx'
import { textField, useSave } from '../ui/draft-fields.ts'
import { formatDateTime } from '../ui/format/time.ts'
import { Confirm } from '../ui/overlay/Confirm.tsx'
import { showError, showToast } from '../ui/overlay/toasts.tsx'
import { SidePanel } from '../ui/page/SidePanel.tsx'
import { Table } from '../ui/page/Table.tsx'
import { useDraft } from '../ui/use-draft.ts'
import { useListChange } from '../ui/use-list-change.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { EditPanel } from './draft/EditPanel.tsx'
import styles from './List.module.css'
import { RoleField, rolesFor } from './parts/RoleField.tsx'
import { RowAction } from './parts/RowButton.tsx'

/** Open invitations; renders nothing without any. */
export function InvitationList() {
  const workspaceId = useWorkspaceId()
  const texts = t.settings.members
  const queries = useQueryClient()
  const { data: invitations = [] } = useInvitations(workspaceId)
  const [confirming, setConfirming] = useState<Invitation | null>(null)
  const [shown, setShown] = useState<{ email: string; url: string } | null>(null)
  const change = useListChange<Invitation>(invitationsKey(workspaceId))
  if (invitations.length === 0) return null
  const withdraw = ({ id }: Invitation) => {
    setConfirming(null)
    return change(
      (list) => list.filter((one) => one.id !== id),
      () => withdrawInvitation(workspaceId, id),
    )
  }
  const copy = ({ id, email }: Invitation) =>
    copyInvitationLink(workspaceId, id).then((url) => setShown({ email, url }), showError)
  const mailAgain = ({ id, email }: Invitation) =>
    mailInvitation(workspaceId, id).then(() => {
      showToast(texts.mailedAgain({ email }))
      return queries.invalidateQueries({ queryKey: invitationsKey(workspaceId) })
    }, showError)
  return (
    <section className={styles.below}>
      <h3 className={styles.subtitle}>{texts.invitations}</h3>
      <Table
        label={texts.invitations}
        rows={invitations}
        keyOf={({ id }) => id}
        columns={[
          { key: 'email', title: texts.email, cell: ({ email }) => email },
          { key: 'role', title: texts.role, cell: ({ role }) => t.settings.roles[role] },
          ...(currentSession().sendsMail ? [{ key: 'mail', title: texts.mail, cell: mailCell }] : []),
          {
            key: 'by',
            title: t.settings.createdBy,
            cell: ({ createdBy }) => <CreatedBy id={createdBy} />,
            optional: true,
          },
          {
            key: 'ends',
            title: texts.ends,
            cell: ({ expiresAt }) => formatDateTime(expiresAt),
            optional: true,
            whole: true,
          },
          {
            key: 'withdraw',
            title: '',
            numeric: true,
            cell: (one) => <Actions invitation={one} copy={copy} mailAgain={mailAgain} withdraw={setConfirming} />,
          },
        ]}
      />
      {shown !== null && <LinkPanel {...shown} close={() => setShown(null)} />}
      {confirming !== null && (
        <Confirm
          title={texts.withdrawConfirm({ email: confirming.email })}
          action={texts.withdraw}
          run={() => withdraw(confirming)}
          close={() => setConfirming(null)}
        >
          {texts.withdrawHelp}
        </Confirm>
      )}
    </section>
  )
}

interface ActionsProps {
  invitation: Invitation
  copy(invitation: Invitation): Promise<void>
  mailAgain(invitation: Invitation): Promise<void>
  withdraw(invitation: Invitation): void
}

function Actions({ invitation, copy, mailAgain, withdraw }: ActionsProps) {
  const { email, role, mail } = invitation
  const texts = t.settings.members
  const mayLink = hasRole(useWorkspaceId(), role === 'owner' ? 'owner' : 'admin')
  const isMailed = currentSession().sendsMail && mail?.status !== 'waiting'
  return (
    <span className={styles.actions}>
      {mayLink && <RowAction text={texts.copyLink} label={texts.linkOf({ email })} run={() => void copy(invitation)} />}
      {mayLink && isMailed && (
        <RowAction text={texts.mailAgain} label={texts.mailAgainTo({ email })} run={() => void mailAgain(invitation)} />
      )}
      <RowAction text={texts.withdraw} label={texts.withdrawOf({ email })} isDanger run={() => withdraw(invitation)} />
    </span>
  )
}

const mailCell = ({ mail }: Invitation) => <MailState mail={mail} />

/** Creates an invitation, then shows its link. */
export function InvitePanel({ close }: { close(): void }) {
  const workspaceId = useWorkspaceId()
  const texts = t.settings.members
  const queries = useQueryClient()
  const { sendsMail } = useSession()
  const draft = useDraft({ email: '', role: 'member' as Role })
  const { email, role } = draft.value
  const create = useSave(
    draft,
    () => invite(workspaceId, email.trim(), role),
    () => void queries.invalidateQueries({ queryKey: invitationsKey(workspaceId) }),
  )
  if (create.data !== undefined) {
    const { invitation, url } = create.data
    return <LinkPanel email={invitation.email} isMailed={invitation.mail !== null} url={url} close={close} />
  }
  return (
    <EditPanel
      title={texts.invite}
      close={close}
      save={create}
      action={sendsMail ? texts.sendInvitation : texts.createLink}
    >
      <TextInput type="email" label={texts.email} {...textField(draft, 'email')} autoComplete="off" data-autofocus />
      <RoleField
        label={texts.role}
        roles={rolesFor(workspaceId)}
        value={role}
        change={(to) => draft.set({ role: to })}
      />
    </EditPanel>
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
function LinkPanel({ email, url, isMailed = false, close }: LinkPanelProps) {
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

const tones = { waiting: 'plain', sent: 'good', refused: 'bad', expired: 'bad' } as const

/** State of a mail, with the words of the mail server if it has not taken it. */
function MailState({ mail }: { mail: Invitation['mail'] }) {
  const texts = t.settings.members
  if (mail === null) return <Text size="sm">{texts.mails.none}</Text>
  const { status, answer, at } = mail
  return (
    <>
      <Chip tone={tones[status]} title={formatDateTime(at)}>
        {texts.mails[status]}
      </Chip>
      {status !== 'sent' && answer !== null && (
        <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
          {answer}
        </Text>
      )}
    </>
  )
}
