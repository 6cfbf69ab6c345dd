import { recordAudit } from '../base/audit.ts'
import type { Sql, Tx } from '../base/db.ts'
import { type ApiError, notFound } from '../base/errors.ts'
import { newId } from '../base/id.ts'
import type { Keyring } from '../base/keyring.ts'
import type { Member, Role } from '../base/member.ts'
import { hashToken, makeToken } from '../base/secret-token.ts'
import { refuseAbove } from './change-team.ts'
import type { TeamDeps } from './team-deps.ts'

const lifeMs = 7 * 24 * 3_600_000

export interface InvitationRow {
  workspace_id: string
  id: string
  email: Buffer
  role: Role
  created_at: Date
  expires_at: Date
}

export interface Invitation {
  id: string
  email: string
  role: Role
  createdAt: Date
  expiresAt: Date
}

/** Invites somebody for 7 days. The link is in this answer and nowhere else: whoever invites passes it on. */
export async function invite(
  deps: TeamDeps,
  by: Member,
  { email, role }: { email: string; role: Role },
): Promise<{ invitation: Invitation; url: string }> {
  refuseAbove(by, role)
  const keyring = await deps.vault.keyring(by.workspaceId)
  const now = deps.clock.now()
  const token = makeToken()
  const invitation = { id: newId(now), email, role, createdAt: now, expiresAt: new Date(now.getTime() + lifeMs) }
  await deps.db.tx(async (tx) => {
    await tx`
      insert into invitations (workspace_id, id, token_hash, email, role, created_by, created_at, expires_at)
      values (
        ${by.workspaceId},
        ${invitation.id},
        ${hashToken(token)},
        ${keyring.seal(emailOf(invitation.id), email)},
        ${role},
        ${by.userId},
        ${now},
        ${invitation.expiresAt}
      )`
    const target = `invitation:${invitation.id}`
    await recordAudit(tx, { scopeId: by.workspaceId, actor: by.actor, action: 'invitation.created', target }, now)
  })
  return { invitation, url: `${deps.publicUrl}/invite/${token}` }
}

/** Those that can still be accepted. */
export async function listInvitations(
  sql: Sql,
  workspaceId: string,
  keyring: Keyring,
  now: Date,
): Promise<Invitation[]> {
  const rows = await sql<InvitationRow[]>`
    select workspace_id, id, email, role, created_at, expires_at
    from invitations
    where workspace_id = ${workspaceId}
      and accepted_at is null
      and expires_at > ${now}
    order by id desc`
  return rows.map((row) => openInvitation(keyring, row))
}

export async function withdrawInvitation(deps: TeamDeps, by: Member, invitationId: string): Promise<void> {
  await deps.db.tx(async (tx) => {
    const withdrawn = await tx`
      delete from invitations
      where workspace_id = ${by.workspaceId}
        and id = ${invitationId}
        and accepted_at is null`
    if (withdrawn.count === 0) throw notFound('Invitation not found')
    const target = `invitation:${invitationId}`
    const entry = { scopeId: by.workspaceId, actor: by.actor, action: 'invitation.withdrawn', target }
    await recordAudit(tx, entry, deps.clock.now())
  })
}

/** The open invitation behind a link. */
export async function findInvitation(sql: Sql, token: string, now: Date): Promise<InvitationRow | undefined> {
  const [row] = await sql<InvitationRow[]>`
    select workspace_id, id, email, role, created_at, expires_at
    from invitations
    where token_hash = ${hashToken(token)}
      and accepted_at is null
      and expires_at > ${now}`
  return row
}

/** Uses the invitation up: of several tries at once, one gets it. */
export async function takeInvitation(tx: Tx, token: string, now: Date): Promise<boolean> {
  const taken = await tx`
    update invitations
    set accepted_at = ${now}
    where token_hash = ${hashToken(token)}
      and accepted_at is null
      and expires_at > ${now}`
  return taken.count > 0
}

export function openInvitation(keyring: Keyring, row: InvitationRow): Invitation {
  return {
    id: row.id,
    email: keyring.openText(emailOf(row.id), row.email),
    role: row.role,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  }
}

export const invitationOver = (): ApiError => notFound('This invitation is no longer valid. Ask for a new one.')

export const emailOf = (id: string) => ({ table: 'invitations', row: id, column: 'email' })
