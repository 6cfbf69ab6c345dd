import { Select } from '@mantine/core'
import { IconDoorExit, IconLogout, IconUserMinus, IconUserPlus } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { useLocation } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { invitationsKey } from '../data/team/invitations.ts'
import {
  changeRole,
  isAway,
  type Member,
  type RemovalOptions,
  removeMember,
  signOutMember,
  useMembers,
} from '../data/team/members.ts'
import { tokensKey } from '../data/team/tokens.ts'
import { everythingKey } from '../data/workspace.ts'
import { membersKey } from '../data/workspace-updates.ts'
import { currentUser, hasRole, type Role, refreshSession } from '../session/session.ts'
import { t } from '../text/index.ts'
import { Avatar } from '../ui/Avatar.tsx'
import { Chip } from '../ui/Chip.tsx'
import { formatDateTime, timeAgo } from '../ui/format/time.ts'
import { Confirm } from '../ui/overlay/Confirm.tsx'
import { Tip } from '../ui/overlay/Tip.tsx'
import { showError, showToast } from '../ui/overlay/toasts.tsx'
import { QueryBoundary } from '../ui/page/PageBody.tsx'
import { type Column, Table } from '../ui/page/Table.tsx'
import { useListChange } from '../ui/use-list-change.ts'
import { useWorkspaceId } from '../ui/use-workspace-id.ts'
import { InvitationList, InvitePanel } from './Invitations.tsx'
import { LeaveDialog } from './LeaveDialog.tsx'
import styles from './List.module.css'
import { AddBar } from './parts/ItemList.tsx'
import { rolesFor } from './parts/RoleField.tsx'
import { RowButton } from './parts/RowButton.tsx'
import { memberAnchor } from './sections.ts'

export function MembersSection() {
  const workspaceId = useWorkspaceId()
  const query = useMembers(workspaceId)
  const [isInviting, setInviting] = useState(false)
  const mayInvite = hasRole(workspaceId, 'admin')
  return (
    <>
      {mayInvite && <AddBar label={t.settings.members.invite} icon={IconUserPlus} run={() => setInviting(true)} />}
      <QueryBoundary query={query}>{(members) => <MemberTable members={members} />}</QueryBoundary>
      {mayInvite && <InvitationList />}
      {isInviting && <InvitePanel close={() => setInviting(false)} />}
    </>
  )
}

function MemberTable({ members }: { members: Member[] }) {
  const workspaceId = useWorkspaceId()
  const texts = t.settings.members
  const queries = useQueryClient()
  const [leaving, setLeaving] = useState<Member | null>(null)
  const [signedOut, setSignedOut] = useState<Member | null>(null)
  const change = useListChange<Member>(membersKey(workspaceId))

  const assignRole = async (member: Member, role: Role) => {
    const next = (list: Member[]) => list.map((one) => (one.userId === member.userId ? { ...one, role } : one))
    const isSaved = await change(next, () => changeRole(workspaceId, member.userId, role))
    for (const key of [invitationsKey(workspaceId), tokensKey(workspaceId)]) {
      void queries.invalidateQueries({ queryKey: key })
    }
    if (isSaved && isMe(member)) await refreshSession()
  }
  const remove = async (member: Member, choice: RemovalOptions) => {
    await removeMember(workspaceId, member.userId, choice)
    if (isMe(member)) {
      window.location.assign('/')
      return
    }
    setLeaving(null)
    showToast(texts.removed({ name: member.name }))
    // Their resources may have been removed too.
    await queries.invalidateQueries({ queryKey: everythingKey(workspaceId) })
  }

  const signOut = async ({ userId, name }: Member) => {
    await signOutMember(workspaceId, userId)
    setSignedOut(null)
    showToast(texts.signedOut({ name }))
  }

  return (
    <>
      <Table
        label={t.settings.sections.members.title}
        columns={columns(workspaceId, assignRole, { leave: setLeaving, signOut: setSignedOut })}
        rows={members}
        keyOf={({ userId }) => userId}
      />
      {leaving !== null && (
        <LeaveDialog member={leaving} run={(choice) => remove(leaving, choice)} close={() => setLeaving(null)} />
      )}
      {signedOut !== null && (
        <Confirm
          title={texts.signOutConfirm({ name: signedOut.name })}
          action={texts.signOut}
          run={() => signOut(signedOut).catch(showError)}
          close={() => setSignedOut(null)}
        >
          {texts.signOutHelp}
        </Confirm>
      )}
    </>
  )
}

const isMe = ({ userId }: Member) => userId === currentUser().id

function columns(
  workspaceId: string,
  assignRole: (member: Member, role: Role) => Promise<void>,
  actions: { leave(member: Member): void; signOut(member: Member): void },
): Column<Member>[] {
  const texts = t.settings.members
  const mayTouch = ({ role }: Member) => hasRole(workspaceId, role === 'owner' ? 'owner' : 'admin')
  return [
    { key: 'person', title: texts.person, cell: (member) => <Person member={member} /> },
    {
      key: 'role',
      title: texts.role,
      cell: (member) =>
        mayTouch(member) ? (
          <Select
            className={styles.role}
            aria-label={texts.roleOf({ name: member.name })}
            data={rolesFor(workspaceId).map((role) => ({ value: role, label: t.settings.roles[role] }))}
            value={member.role}
            onChange={(role) => role !== null && role !== member.role && void assignRole(member, role as Role)}
            allowDeselect={false}
          />
        ) : (
          t.settings.roles[member.role]
        ),
    },
    {
      key: 'joined',
      title: texts.joined,
      cell: ({ joinedAt }) => <span title={formatDateTime(joinedAt)}>{timeAgo(joinedAt)}</span>,
      optional: true,
    },
    {
      key: 'leave',
      title: '',
      numeric: true,
      cell: (member) => (
        <span className={styles.actions}>
          {!isMe(member) && hasRole(workspaceId, 'owner') && (
            <Tip label={texts.signOut}>
              <RowButton
                label={texts.signOutOf({ name: member.name })}
                icon={IconLogout}
                run={() => actions.signOut(member)}
              />
            </Tip>
          )}
          {(isMe(member) || mayTouch(member)) && (
            <Tip label={isMe(member) ? texts.leave : texts.remove}>
              <RowButton
                label={isMe(member) ? texts.leave : texts.removeOf({ name: member.name })}
                icon={isMe(member) ? IconDoorExit : IconUserMinus}
                run={() => actions.leave(member)}
              />
            </Tip>
          )}
        </span>
      ),
    },
  ]
}

const awayTitle = (since: string, until: string | null): string =>
  until === null
    ? t.settings.members.awaySince({ moment: formatDateTime(since) })
    : t.settings.routing.backAt({ moment: formatDateTime(until) })

function Person({ member }: { member: Member }) {
  const { name, email, awaySince, awayUntil, failedMail } = member
  const texts = t.settings.members
  const anchor = memberAnchor(member.userId)
  const isHere = useLocation({ select: ({ hash }) => hash === anchor })
  const person = useRef<HTMLElement>(null)
  // The list loads after the navigation.
  useEffect(() => {
    if (isHere) person.current?.focus()
  }, [isHere])
  return (
    <span className={styles.person} ref={person} id={anchor} tabIndex={-1} data-here={isHere || undefined}>
      <Avatar name={name} size={28} />
      <span className={styles.names}>
        <strong>
          {name} {isMe(member) && <Chip>{texts.you}</Chip>}
          {awaySince !== null && isAway(member) && (
            <Chip tone="attention" title={awayTitle(awaySince, awayUntil)}>
              {texts.away}
            </Chip>
          )}
          {failedMail !== null && (
            <Chip tone="bad" title={texts.mailAnswer({ answer: failedMail.answer ?? '' })}>
              {texts.mailFailed}
            </Chip>
          )}
        </strong>
        <span>{email}</span>
      </span>
    </span>
  )
}
