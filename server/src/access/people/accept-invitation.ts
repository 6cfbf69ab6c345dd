import type { Tx } from '../../base/db.ts'
import { conflict, InvalidInput } from '../../base/errors.ts'
import { instanceScope } from '../../base/sealing/vault.ts'
import { recordAudit } from '../../team/audit.ts'
import type { NewSession } from '../sign-in/sessions.ts'
import { enter } from '../sign-in/sign-in.ts'
import { addMember, lockMembers } from '../users/members.ts'
import type { TeamDeps, Visitor } from '../users/team-deps.ts'
import { createUser, findUserByEmail } from '../users/users.ts'
import {
  findInvitation,
  type InvitationRow,
  invitationOver,
  invitationVoid,
  openInvitation,
  takeInvitation,
} from './invitations.ts'

export interface Joined {
  workspaceId: string
  userId: string
  /** Of a new user; one who was signed in keeps theirs. */
  session: NewSession | null
}

/**
 * Joins the workspace. A signed-in user joins as who they are; anyone else becomes a user with the invitation's e-mail
 * and is signed in. When that e-mail has a user already, they must sign in first (409).
 */
export async function acceptInvitation(
  deps: TeamDeps,
  visitor: Visitor,
  token: string,
  as: { userId: string } | { name: string | undefined; password: string | undefined },
): Promise<Joined> {
  const invitation = await findInvitation(deps.db.sql, token, deps.clock.now())
  if (invitation === undefined) throw invitationOver()
  if (!invitation.stands) throw invitationVoid()
  return 'userId' in as
    ? joinAs(deps, token, invitation, as.userId)
    : joinAnew(deps, visitor, token, invitation, readNewcomer(as.name, as.password))
}

async function joinAs(deps: TeamDeps, token: string, invitation: InvitationRow, userId: string): Promise<Joined> {
  await deps.db.tx((tx) => join(tx, token, invitation, userId, deps.clock.now()))
  return { workspaceId: invitation.workspace_id, userId, session: null }
}

async function joinAnew(
  deps: TeamDeps,
  visitor: Visitor,
  token: string,
  row: InvitationRow,
  { name, password }: { name: string; password: string },
): Promise<Joined> {
  const [instanceKeys, workspaceKeys] = await Promise.all([
    deps.vault.keyring(instanceScope),
    deps.vault.keyring(row.workspace_id),
  ])
  const { email } = openInvitation(workspaceKeys, row)
  if (await findUserByEmail(deps.db.sql, instanceKeys, email)) {
    throw conflict('You have an account already. Sign in, then open the invitation again.')
  }
  const passwordHash = await deps.passwords.hash(password)
  return deps.db.tx(async (tx) => {
    const now = deps.clock.now()
    const userId = await createUser(tx, instanceKeys, { name, email, passwordHash, isOperator: false }, now)
    await join(tx, token, row, userId, now)
    const session = await enter(tx, instanceKeys, userId, 'invitation', visitor, deps.wallClock.now())
    return { workspaceId: row.workspace_id, userId, session }
  })
}

async function join(tx: Tx, token: string, invitation: InvitationRow, userId: string, now: Date): Promise<void> {
  // From here on nobody's role changes: who invited either stands, or is known to be gone.
  await lockMembers(tx, invitation.workspace_id)
  const current = await findInvitation(tx, token, now)
  if (current === undefined) throw invitationOver()
  if (!current.stands) throw invitationVoid()
  if (!(await takeInvitation(tx, token, now))) throw invitationOver()
  const { workspace_id: scopeId, role } = invitation
  if (!(await addMember(tx, scopeId, userId, role, now))) throw conflict('You are a member of this workspace already')
  const actor = { type: 'user', id: userId } as const
  await recordAudit(tx, { scopeId, actor, action: 'member.joined', target: `member:${userId}` }, now)
}

function readNewcomer(name: string | undefined, password: string | undefined): { name: string; password: string } {
  const trimmed = name?.trim()
  if (trimmed && password !== undefined) return { name: trimmed, password }
  const issues = []
  if (!trimmed) issues.push({ path: 'name', message: 'is required' })
  if (password === undefined) issues.push({ path: 'password', message: 'is required' })
  throw new InvalidInput(issues)
}
