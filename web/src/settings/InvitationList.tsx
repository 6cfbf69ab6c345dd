import { Button } from '@mantine/core'
import { useState } from 'react'
import {
  copyInvitationLink,
  type Invitation,
  invitationsKey,
  useInvitations,
  withdrawInvitation,
} from '../data/team/invitations.ts'
import { mayIn } from '../session/session.ts'
import { MadeBy } from '../shared/MadeBy.tsx'
import { t } from '../text/index.ts'
import { fullMoment } from '../ui/format/time.ts'
import { Confirm } from '../ui/overlay/Confirm.tsx'
import { complain } from '../ui/overlay/notices.tsx'
import { Table } from '../ui/page/Table.tsx'
import { useListChange } from '../ui/use-list-change.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { LinkPanel } from './InvitePanel.tsx'
import styles from './List.module.css'

/** Those that can still be accepted; nothing when there are none. */
export function InvitationList() {
  const workspaceId = useWorkspaceId()
  const texts = t.settings.members
  const { data: invitations = [] } = useInvitations(workspaceId)
  const [asks, setAsks] = useState<Invitation | null>(null)
  const [shown, setShown] = useState<{ email: string; url: string } | null>(null)
  const change = useListChange<Invitation>(invitationsKey(workspaceId))
  if (invitations.length === 0) return null
  const withdraw = ({ id }: Invitation) => {
    setAsks(null)
    return change(
      (list) => list.filter((one) => one.id !== id),
      () => withdrawInvitation(workspaceId, id),
    )
  }
  const copy = ({ id, email }: Invitation) =>
    copyInvitationLink(workspaceId, id).then((url) => setShown({ email, url }), complain)
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
          {
            key: 'by',
            title: t.settings.madeBy,
            cell: ({ createdBy }) => <MadeBy id={createdBy} />,
            optional: true,
          },
          {
            key: 'ends',
            title: texts.ends,
            cell: ({ expiresAt }) => fullMoment(expiresAt),
            optional: true,
            whole: true,
          },
          {
            key: 'withdraw',
            title: '',
            numeric: true,
            cell: (invitation) => (
              <span className={styles.actions}>
                {mayIn(workspaceId, invitation.role === 'owner' ? 'owner' : 'admin') && (
                  <Button
                    size="compact-sm"
                    variant="subtle"
                    aria-label={texts.linkOf({ email: invitation.email })}
                    onClick={() => void copy(invitation)}
                  >
                    {texts.copyLink}
                  </Button>
                )}
                <Button
                  size="compact-sm"
                  variant="subtle"
                  color="red"
                  aria-label={texts.withdrawOf({ email: invitation.email })}
                  onClick={() => setAsks(invitation)}
                >
                  {texts.withdraw}
                </Button>
              </span>
            ),
          },
        ]}
      />
      {shown !== null && <LinkPanel {...shown} close={() => setShown(null)} />}
      {asks !== null && (
        <Confirm
          title={texts.withdrawAsk({ email: asks.email })}
          action={texts.withdraw}
          run={() => withdraw(asks)}
          close={() => setAsks(null)}
        >
          {texts.withdrawHelp}
        </Confirm>
      )}
    </section>
  )
}
