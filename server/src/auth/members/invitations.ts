import type { Fragment, Sql, Tx } from '../../base/db.ts'
import { instanceScope } from '../../base/encryption/key-store.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { createToken, hashToken } from '../../base/encryption/secret-token.ts'
import { type ApiError, conflict, InvalidInput, notFound } from '../../base/errors.ts'
import { newId } from '../../base/id.ts'
import { selectedAs, withColumnNames } from '../../base/postgres/rows.ts'
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
  workspaceId: string
  id: string
  /** Null if it was created before links were stored. */
  token: Buffer | null
  email: Buffer
  role: Role
  /** The member who is responsible for it; null if none. */
  createdBy: string | null
  createdAt: Date
  expiresAt: Date
  /** Whether the inviter could still invite with this role. */
  stands: boolean
}

export interface Invitation extends Omit<InvitationRow, 'workspaceId' | 'token' | 'email' | 'stands'> {
  email: string
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
    const row = {
      ...{ ...invitation, workspaceId: by.workspaceId, tokenHash: hashToken(token) },
      token: keyring.encrypt(tokenContext(invitation.id), token),
      email: keyring.encrypt(emailContext(invitation.id), email),
    }
    await tx`insert into invitations ${tx.row(withColumnNames(row))}`
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
  const [row] = await selectInvitations(tx, now, tx`i.workspace_id = ${by.workspaceId} and i.id = ${invitationId}`)
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
  const open = await selectInvitations(sql, now, sql`i.workspace_id = ${workspaceId} order by i.id desc`)
  const rows = open.filter(({ stands }) => stands)
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

/** Returns the open invitation of a link. Throws 404 without one, and if its sender can no longer invite so. */
async function requireInvitationOf(sql: Sql, token: string, now: Date): Promise<InvitationRow> {
  const [row] = await selectInvitations(sql, now, sql`i.token_hash = ${hashToken(token)}`)
  if (row === undefined) throw invitationExpired()
  if (row.stands) return row
  throw notFound('The sender of this invitation can no longer invite with this role. Ask for a new one.')
}

/** Returns what the holder of the link sees before joining. */
export async function readInvitation(deps: TeamDeps, token: string) {
  const row = await requireInvitationOf(deps.db.sql, token, deps.clock.now())
  const workspaceName = await nameOfWorkspace(deps.db.sql, row.workspaceId)
  const { email, role } = await deps.keyStore.withKeyring(row.workspaceId, (keyring) => decryptInvitation(keyring, row))
  return { workspaceName, email, role }
}

function decryptInvitation(
  keyring: Keyring,
  { workspaceId: _, token: _token, stands: _stands, ...row }: InvitationRow,
): Omit<Invitation, 'mail'> {
  return { ...row, email: keyring.decryptText(emailContext(row.id), row.email) }
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

const columns = selectedAs('i', [
  ...['workspaceId', 'id', 'token', 'email', 'role', 'createdBy', 'createdAt', 'expiresAt'],
])

/** Returns invitations that can still be accepted. */
const selectInvitations = (sql: Sql, now: Date, rest: Fragment): Promise<InvitationRow[]> => sql<InvitationRow[]>`
  select ${columns}, ${inviterMayInvite(sql)} as stands
  from invitations i
  where i.accepted_at is null
    and i.expires_at > ${now}
    and ${rest}`

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
  const invitation = await requireInvitationOf(deps.db.sql, token, deps.clock.now())
  if (!('userId' in as)) return joinAsNewUser(deps, visitor, token, invitation, parseNewcomer(as.name, as.password))
  const { workspaceId } = invitation
  await deps.db.tx((tx) => join(tx, token, workspaceId, as.userId, deps.clock.now()))
  return { workspaceId, userId: as.userId, session: null }
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
    deps.keyStore.keyring(row.workspaceId),
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
    await join(tx, token, row.workspaceId, userId, now)
    const session = await completeSignIn(tx, instanceKeys, userId, 'invitation', visitor, deps.wallClock.now())
    return { workspaceId: row.workspaceId, userId, session }
  })
}

async function join(tx: Tx, token: string, workspaceId: string, userId: string, now: Date): Promise<void> {
  // The lock keeps roles from changing, so the inviter may still invite at the commit.
  await lockMembers(tx, workspaceId)
  const { role } = await requireInvitationOf(tx, token, now)
  // Of several attempts at once, one succeeds.
  const taken = await tx`
    update invitations
    set accepted_at = ${now},
      token = null
    where token_hash = ${hashToken(token)}
      and accepted_at is null
      and expires_at > ${now}`
  if (taken.count === 0) throw invitationExpired()
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
