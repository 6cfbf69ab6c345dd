import type { Sql, Tx } from '../../base/db.ts'
import { instanceScope } from '../../base/encryption/key-store.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { createToken, hashToken } from '../../base/encryption/secret-token.ts'
import { type ApiError, conflict, InvalidInput, notFound } from '../../base/errors.ts'
import { newId } from '../../base/id.ts'
import { invitationMail } from '../../mail/mail-texts.ts'
import { cancelMails, forgetEndedMail, type MailStatus, readMailsByCause, recordMail } from '../../mail/mails.ts'
import { type AuditEntry, recordAudit, userActor, workspaceEntry } from '../../team/audit.ts'
import type { Member, Role } from '../../team/member.ts'
import { refuseForcedEmail } from '../providers/forced.ts'
import type { NewSession } from '../sign-in/sessions.ts'
import { completeSignIn } from '../sign-in/sign-in.ts'
import { addMember, lockMembers, refuseHigherRole } from '../users/members.ts'
import { createUser, findUser, findUserByEmail, type TeamDeps, type Visitor } from '../users/users.ts'

const invitationLifetimeMs = 7 * 24 * 3_600_000

interface InvitationRow {
  workspace_id: string
  id: string
  email: Buffer
  role: Role
  created_by: string | null
  created_at: Date
  expires_at: Date
  /** Whether the inviter could still invite with this role. */
  stands: boolean
}

export interface Invitation {
  id: string
  email: string
  role: Role
  /** The member who is responsible for it; null if none. */
  createdBy: string | null
  createdAt: Date
  expiresAt: Date
  /** Its mail; null if it was not mailed. */
  mail: MailStatus | null
}

/** Creates an invitation for 7 days, and mails it if a mail server is set up. The caller can also pass the link on. */
export async function createInvitation(
  deps: TeamDeps,
  by: Member,
  { email, role }: { email: string; role: Role },
): Promise<{ invitation: Invitation; url: string }> {
  refuseHigherRole(by, role)
  const [keyring, instanceKeys] = await Promise.all([
    deps.keyStore.keyring(by.workspaceId),
    deps.keyStore.keyring(instanceScope),
  ])
  const now = deps.clock.now()
  const token = createToken()
  const expiresAt = new Date(now.getTime() + invitationLifetimeMs)
  const invitation = { id: newId(now), email, role, createdBy: by.creatorId, createdAt: now, expiresAt }
  const url = linkOf(deps, token)
  const isMailed = await deps.db.tx(async (tx) => {
    await tx`
      insert into invitations (workspace_id, id, token_hash, token, email, role, created_by, created_at, expires_at)
      values (
        ${by.workspaceId},
        ${invitation.id},
        ${hashToken(token)},
        ${keyring.encrypt(tokenContext(invitation.id), token)},
        ${keyring.encrypt(emailContext(invitation.id), email)},
        ${role},
        ${by.creatorId},
        ${now},
        ${invitation.expiresAt}
      )`
    await recordAudit(tx, workspaceEntry(by, 'invitation.created', `invitation:${invitation.id}`), now)
    return deps.mailer != null && mailInvitation(tx, instanceKeys, by, invitation, url, now)
  })
  const mail = isMailed ? ({ status: 'waiting', answer: null, at: now } as const) : null
  return { invitation: { ...invitation, mail }, url }
}

const mailCause = (invitationId: string) => `invitation:${invitationId}`
const mailLifeMs = 24 * 3_600_000

/** Records the mail of an invitation, in the language of the inviter. Returns whether it was recorded. */
async function mailInvitation(
  tx: Tx,
  instanceKeys: Keyring,
  { workspaceId, creatorId, userId, name }: Member,
  { id, email, expiresAt: endsAt }: Pick<Invitation, 'id' | 'email' | 'expiresAt'>,
  url: string,
  now: Date,
): Promise<boolean> {
  const inviter = creatorId === null ? undefined : await findUser(tx, creatorId)
  const facts = { inviter: userId === null ? null : name, workspace: await nameOfWorkspace(tx, workspaceId), url }
  const content = { ...invitationMail(inviter?.language ?? 'en', facts), to: email }
  const expiresAt = new Date(Math.min(now.getTime() + mailLifeMs, endsAt.getTime()))
  const mail = { kind: 'invitation', cause: mailCause(id), workspaceId, userId: null, content, expiresAt } as const
  return recordMail(tx, instanceKeys, mail, now)
}

async function nameOfWorkspace(sql: Sql, workspaceId: string): Promise<string> {
  const [workspace] = await sql<{ name: string }[]>`
    select name
    from workspaces
    where id = ${workspaceId}`
  return workspace?.name ?? ''
}

const linkOf = ({ publicUrl }: Pick<TeamDeps, 'publicUrl'>, token: string) => `${publicUrl}/invite/${token}`

/** So that nobody gets a pile of the same mail. */
const mailPauseMs = 5 * 60_000

/**
 * Mails the link of an open invitation once more, also after the first mail was refused. Throws what `readInvitationLink`
 * throws, and 409 without a mail server, while a mail waits, and right after one was sent.
 */
export async function mailInvitationAgain(deps: TeamDeps, by: Member, invitationId: string): Promise<void> {
  if (deps.mailer == null) throw conflict('Mail is not set up. Copy the link and send it yourself.')
  const [keyring, instanceKeys] = await Promise.all([
    deps.keyStore.keyring(by.workspaceId),
    deps.keyStore.keyring(instanceScope),
  ])
  const now = deps.clock.now()
  await deps.db.tx(async (tx) => {
    const { url, ...invitation } = await requireInvitation(tx, keyring, deps, by, invitationId, now)
    const isOver = await forgetEndedMail(tx, mailCause(invitation.id), new Date(now.getTime() - mailPauseMs))
    if (!isOver) throw conflict('It is being mailed, or was in the last 5 minutes. Wait before mailing it again.')
    if (!(await mailInvitation(tx, instanceKeys, by, invitation, url, now)))
      throw conflict('A mail is under way, or too many mails of this workspace wait. Try again in a few minutes.')
    await recordAudit(tx, workspaceEntry(by, 'invitation.mailed', `invitation:${invitation.id}`), now)
  })
}

/**
 * Returns the link of an open invitation again, for callers who may invite with its role. Throws 404, 403, and 409 if
 * the link was not stored.
 */
export async function readInvitationLink(deps: TeamDeps, by: Member, invitationId: string): Promise<string> {
  const keyring = await deps.keyStore.keyring(by.workspaceId)
  const now = deps.clock.now()
  return deps.db.tx(async (tx) => {
    const { url } = await requireInvitation(tx, keyring, deps, by, invitationId, now)
    await recordAudit(tx, workspaceEntry(by, 'invitation.link-copied', `invitation:${invitationId}`), now)
    return url
  })
}

/**
 * Returns an open invitation with its link, for callers who may invite with its role. Throws 404, 403, and 409 if
 * the link was not stored.
 */
async function requireInvitation(
  tx: Tx,
  keyring: Keyring,
  deps: Pick<TeamDeps, 'publicUrl'>,
  by: Member,
  invitationId: string,
  now: Date,
): Promise<Pick<Invitation, 'id' | 'email' | 'expiresAt'> & { url: string }> {
  const [row] = await tx<(InvitationRow & { token: Buffer | null })[]>`
    select i.token, ${columns(tx)}
    from invitations i
    where i.workspace_id = ${by.workspaceId}
      and i.id = ${invitationId}
      and i.accepted_at is null
      and i.expires_at > ${now}`
  if (row === undefined || !row.stands) throw notFound('Invitation not found')
  refuseHigherRole(by, row.role)
  if (row.token === null) throw conflict('The link of this invitation was not stored. Withdraw it and create a new one')
  const url = linkOf(deps, keyring.decryptText(tokenContext(row.id), row.token))
  return { ...decryptInvitation(keyring, row), url }
}

/** Returns the invitations that can still be accepted, with the state of their mails. */
export async function listInvitations(
  { db: { sql }, keyStore }: Pick<TeamDeps, 'db' | 'keyStore'>,
  workspaceId: string,
  now: Date,
): Promise<Invitation[]> {
  const rows = await sql<InvitationRow[]>`
    select ${columns(sql)}
    from invitations i
    where i.workspace_id = ${workspaceId}
      and i.accepted_at is null
      and i.expires_at > ${now}
      and ${inviterMayInvite(sql)}
    order by i.id desc`
  const mails = await keyStore.withKeyring(instanceScope, (instanceKeys) =>
    readMailsByCause(
      sql,
      instanceKeys,
      rows.map(({ id }) => mailCause(id)),
    ),
  )
  return keyStore.withKeyring(workspaceId, (keyring) =>
    rows.map((row) => ({ ...decryptInvitation(keyring, row), mail: mails.get(mailCause(row.id)) ?? null })),
  )
}

export async function withdrawInvitation(deps: TeamDeps, by: Member, invitationId: string): Promise<void> {
  await deps.db.tx(async (tx) => {
    const withdrawn = await tx`
      delete from invitations
      where workspace_id = ${by.workspaceId}
        and id = ${invitationId}
        and accepted_at is null`
    if (withdrawn.count === 0) throw notFound('Invitation not found')
    await cancelMails(tx, [mailCause(invitationId)])
    const entry = workspaceEntry(by, 'invitation.withdrawn', `invitation:${invitationId}`)
    await recordAudit(tx, entry, deps.clock.now())
  })
}

/** Finds the open invitation of a link. */
async function findInvitation(sql: Sql, token: string, now: Date): Promise<InvitationRow | undefined> {
  const [row] = await sql<InvitationRow[]>`
    select ${columns(sql)}
    from invitations i
    where i.token_hash = ${hashToken(token)}
      and i.accepted_at is null
      and i.expires_at > ${now}`
  return row
}

/** Returns what the holder of the link sees before joining. */
export async function readInvitation(deps: TeamDeps, token: string) {
  const row = await findInvitation(deps.db.sql, token, deps.clock.now())
  if (row === undefined) throw invitationExpired()
  if (!row.stands) throw invitationVoid()
  const workspaceName = await nameOfWorkspace(deps.db.sql, row.workspace_id)
  const { email, role } = await deps.keyStore.withKeyring(row.workspace_id, (keyring) =>
    decryptInvitation(keyring, row),
  )
  return { workspaceName, email, role }
}

/** Consumes the invitation: of several concurrent attempts, one succeeds. */
async function consumeInvitation(tx: Tx, token: string, now: Date): Promise<boolean> {
  const taken = await tx`
    update invitations
    set accepted_at = ${now},
      token = null
    where token_hash = ${hashToken(token)}
      and accepted_at is null
      and expires_at > ${now}`
  return taken.count > 0
}

function decryptInvitation(keyring: Keyring, row: InvitationRow): Omit<Invitation, 'mail'> {
  return {
    id: row.id,
    email: keyring.decryptText(emailContext(row.id), row.email),
    role: row.role,
    createdBy: row.created_by,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  }
}

/** Withdraws the person's open invitations with one of these roles. Returns how many. */
export async function withdrawInvitationsOf(
  tx: Tx,
  by: { workspaceId: string; actor: AuditEntry['actor'] },
  userId: string,
  ofRoles: readonly Role[],
  now: Date,
): Promise<number> {
  const withdrawn = await tx<{ id: string }[]>`
    delete from invitations
    where workspace_id = ${by.workspaceId}
      and created_by = ${userId}
      and role = any (${[...ofRoles]}::text[])
      and accepted_at is null
    returning id`
  const count = withdrawn.length
  if (count === 0) return 0
  await cancelMails(
    tx,
    withdrawn.map(({ id }) => mailCause(id)),
  )
  await recordAudit(tx, workspaceEntry(by, 'invitation.withdrawn', `member:${userId}`), now, count)
  return count
}

const columns = (sql: Sql) => sql`
  i.workspace_id, i.id, i.email, i.role, i.created_by, i.created_at, i.expires_at, ${inviterMayInvite(sql)} as stands`

/** Whether the inviter, who is responsible until it is accepted, is still a member and may still grant this role. */
const inviterMayInvite = (sql: Sql) => sql`(
  i.created_by is null
  or exists (
    select 1
    from users u
    left join members m on m.workspace_id = i.workspace_id and m.user_id = u.id
    where u.id = i.created_by
      and (u.is_operator or m.role = 'owner' or (m.role = 'admin' and i.role <> 'owner'))
  )
)`

const invitationVoid = (): ApiError =>
  notFound('The sender of this invitation can no longer invite with this role. Ask for a new one.')

const invitationExpired = (): ApiError => notFound('This invitation is no longer valid. Ask for a new one.')

const tokenContext = (id: string) => ({ table: 'invitations', row: id, column: 'token' })

const emailContext = (id: string) => ({ table: 'invitations', row: id, column: 'email' })

interface JoinResult {
  workspaceId: string
  userId: string
  /** Session of a new user; null for a user who was already signed in. */
  session: NewSession | null
}

/**
 * Joins the workspace. A signed-in user joins with their account. Otherwise creates a user with the invitation's e-mail
 * and signs them in. Throws 409 if that e-mail already has a user, who must sign in first.
 */
export async function acceptInvitation(
  deps: TeamDeps,
  visitor: Visitor,
  token: string,
  as: { userId: string } | { name: string | undefined; password: string | undefined },
): Promise<JoinResult> {
  const invitation = await findInvitation(deps.db.sql, token, deps.clock.now())
  if (invitation === undefined) throw invitationExpired()
  if (!invitation.stands) throw invitationVoid()
  return 'userId' in as
    ? joinAsUser(deps, token, invitation, as.userId)
    : joinAsNewUser(deps, visitor, token, invitation, parseNewcomer(as.name, as.password))
}

async function joinAsUser(
  deps: TeamDeps,
  token: string,
  invitation: InvitationRow,
  userId: string,
): Promise<JoinResult> {
  await deps.db.tx((tx) => join(tx, token, invitation, userId, deps.clock.now()))
  return { workspaceId: invitation.workspace_id, userId, session: null }
}

async function joinAsNewUser(
  deps: TeamDeps,
  visitor: Visitor,
  token: string,
  row: InvitationRow,
  { name, password }: { name: string; password: string },
): Promise<JoinResult> {
  const [instanceKeys, workspaceKeys] = await Promise.all([
    deps.keyStore.keyring(instanceScope),
    deps.keyStore.keyring(row.workspace_id),
  ])
  const { email } = decryptInvitation(workspaceKeys, row)
  if (await findUserByEmail(deps.db.sql, instanceKeys, email)) {
    throw conflict('You have an account already. Sign in, then open the invitation again.')
  }
  await refuseForcedEmail(deps.db.sql, instanceKeys, email)
  const passwordHash = await deps.passwords.hash(password)
  return deps.db.tx(async (tx) => {
    const now = deps.clock.now()
    const userId = await createUser(tx, instanceKeys, { name, email, passwordHash, isOperator: false }, now)
    await join(tx, token, row, userId, now)
    const session = await completeSignIn(tx, instanceKeys, userId, 'invitation', visitor, deps.wallClock.now())
    return { workspaceId: row.workspace_id, userId, session }
  })
}

async function join(tx: Tx, token: string, invitation: InvitationRow, userId: string, now: Date): Promise<void> {
  // The lock keeps roles from changing, so `stands` below remains true until commit.
  await lockMembers(tx, invitation.workspace_id)
  const current = await findInvitation(tx, token, now)
  if (current === undefined) throw invitationExpired()
  if (!current.stands) throw invitationVoid()
  if (!(await consumeInvitation(tx, token, now))) throw invitationExpired()
  const { workspace_id: workspaceId, role } = invitation
  const isAdded = await addMember(tx, workspaceId, userId, role, now)
  if (!isAdded) throw conflict('You are a member of this workspace already')
  const by = { workspaceId, actor: userActor(userId) }
  await recordAudit(tx, workspaceEntry(by, 'member.joined', `member:${userId}`), now)
}

function parseNewcomer(name: string | undefined, password: string | undefined): { name: string; password: string } {
  const trimmed = name?.trim()
  if (trimmed && password !== undefined) return { name: trimmed, password }
  const issues = []
  if (!trimmed) issues.push({ path: 'name', message: 'is required' })
  if (password === undefined) issues.push({ path: 'password', message: 'is required' })
  throw new InvalidInput(issues)
}
