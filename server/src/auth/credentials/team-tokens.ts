import { Type } from 'typebox'
import type { Sql, Tx } from '../../base/db.ts'
import { checksum62, hashToken, randomBase62 } from '../../base/encryption/secret-token.ts'
import { invalid, notFound } from '../../base/errors.ts'
import { newId } from '../../base/id.ts'
import { selectedAs, withColumnNames } from '../../base/postgres/rows.ts'
import { nullable, timestamp, titled } from '../../base/route.ts'
import { text, visiblePattern } from '../../base/schema-types.ts'
import { withIsoTimes } from '../../base/time.ts'
import { type AuditEntry, instanceEntry, recordAudit } from '../../team/audit.ts'
import type { Role, TeamCaller } from '../../team/member.ts'
import { idSchema, roleSchema } from '../../team/team-schema.ts'
import { publishTokenRevoked } from '../users/members.ts'
import type { TeamDeps } from '../users/users.ts'

const recordUseEveryMs = 60_000

interface TeamTokenRow {
  id: string
  /** Null: works in every workspace. */
  workspaceId: string | null
  name: string
  role: Role
  lastFour: string
  createdBy: string | null
  createdAt: Date
  lastUsedAt: Date | null
  expiresAt: Date | null
}

type NewTeamToken = Pick<TeamTokenRow, 'workspaceId' | 'name' | 'role' | 'expiresAt'>

/** Creates a token. Only this result contains its value. */
export async function createTeamToken(
  deps: TeamDeps,
  by: TeamCaller,
  input: NewTeamToken,
): Promise<{ token: TeamTokenRow; value: string }> {
  const now = deps.clock.now()
  if (input.expiresAt !== null && input.expiresAt <= now) throw invalid('expiresAt', 'must be in the future')
  const value = makeTeamToken()
  const token = await deps.db.tx(async (tx) => {
    const row = await insertTeamToken(tx, input, value, by.creatorId, now)
    await recordChange(tx, by, input.workspaceId, 'team-token.created', row.id, now)
    return row
  })
  return { token, value }
}

/** Returns the active tokens of a workspace or, for null, of the instance: all, or those of whom a person is responsible. */
export const listTeamTokens = (
  sql: Sql,
  workspaceId: string | null,
  now: Date,
  creatorId: string | null = null,
): Promise<TeamTokenRow[]> => sql<TeamTokenRow[]>`
  select ${columns}
  from team_tokens
  where workspace_id is not distinct from ${workspaceId}::uuid
    and (${creatorId}::uuid is null or created_by = ${creatorId})
    and ${isActive(sql, now)}
  order by created_at desc, id desc`

const isActive = (sql: Sql, now: Date) => sql`revoked_at is null and (expires_at is null or expires_at > ${now})`

/** Revokes a token. It stops working with the next request, on every node. */
export async function revokeTeamToken(
  deps: TeamDeps,
  by: TeamCaller,
  workspaceId: string | null,
  tokenId: string,
): Promise<void> {
  const now = deps.clock.now()
  await deps.db.tx(async (tx) => {
    const revoked = await tx`
      update team_tokens
      set revoked_at = ${now}
      where workspace_id is not distinct from ${workspaceId}::uuid
        and id = ${tokenId}
        and revoked_at is null`
    if (revoked.count === 0) throw notFound('Team token not found')
    publishTokenRevoked(tx, tokenId)
    await recordChange(tx, by, workspaceId, 'team-token.revoked', tokenId, now)
  })
}

/** Revokes the person's tokens of this workspace that have one of these roles. Returns how many. */
export async function revokeTokensOf(
  tx: Tx,
  by: { workspaceId: string; actor: AuditEntry['actor'] },
  userId: string,
  ofRoles: readonly Role[],
  now: Date,
): Promise<number> {
  const revoked = await tx<{ id: string }[]>`
    update team_tokens
    set revoked_at = ${now}
    where workspace_id = ${by.workspaceId}
      and created_by = ${userId}
      and role = any (${[...ofRoles]}::text[])
      and ${isActive(tx, now)}
    returning id`
  for (const { id } of revoked) {
    publishTokenRevoked(tx, id)
    await recordChange(tx, by, by.workspaceId, 'team-token.revoked', id, now)
  }
  return revoked.length
}

export async function findTeamToken(sql: Sql, value: string, now: Date): Promise<TeamTokenRow | undefined> {
  const [row] = await sql<TeamTokenRow[]>`
    select ${columns}
    from team_tokens
    where token_hash = ${hashToken(value)}
      and ${isActive(sql, now)}`
  return row
}

/** Returns whether the time of last use is old enough to store again. */
export function isUseDue(token: TeamTokenRow, now: Date): boolean {
  return token.lastUsedAt === null || now.getTime() - token.lastUsedAt.getTime() >= recordUseEveryMs
}

export async function recordTokenUse(tx: Tx, tokenId: string, now: Date): Promise<void> {
  await tx`
    update team_tokens
    set last_used_at = ${now}
    where id = ${tokenId}`
}

async function insertTeamToken(
  tx: Tx,
  input: NewTeamToken,
  value: string,
  createdBy: string | null,
  now: Date,
): Promise<TeamTokenRow> {
  const secret = { tokenHash: hashToken(value), lastFour: value.slice(-4) }
  const [row] = await tx<[TeamTokenRow]>`
    insert into team_tokens ${tx.row(withColumnNames({ ...input, ...secret, id: newId(now), createdBy, createdAt: now }))}
    returning ${columns}`
  return row
}

const columns = selectedAs('team_tokens', [
  ...['id', 'workspaceId', 'name', 'role', 'lastFour', 'createdBy', 'createdAt', 'lastUsedAt', 'expiresAt'],
])

function recordChange(
  tx: Tx,
  by: Pick<AuditEntry, 'actor'>,
  workspaceId: string | null,
  action: string,
  tokenId: string,
  now: Date,
): Promise<void> {
  const entry = instanceEntry(by.actor, action, `team-token:${tokenId}`)
  return recordAudit(tx, workspaceId === null ? entry : { ...entry, scopeId: workspaceId }, now)
}

const tokenPattern = /^plt_[0-9A-Za-z]{32}_[0-9A-Za-z]{6}$/

/** Returns `plt_<32 random>_<6 checksum>`: the prefix is for secret scanners; the random part has 190 bits. */
export function makeTeamToken(): string {
  const body = `plt_${randomBase62(32)}`
  return `${body}_${checksum62(body)}`
}

export function isTeamToken(text: string): boolean {
  return tokenPattern.test(text) && text.slice(-6) === checksum62(text.slice(0, -7))
}

export const createdBySchema = nullable(
  idSchema(
    'The member who created it, directly or with a team token. Null if created from the command line or with the operator token.',
  ),
)

export const tokenSchema = titled('TeamToken', {
  id: idSchema('The token.'),
  name: text(100, 'Name that says what the token is for.', { example: 'Nightly export' }),
  role: roleSchema,
  shown: text(20, 'Prefix and last four characters.', { example: 'plt_…8fK2' }),
  createdBy: createdBySchema,
  createdAt: timestamp('Creation time.'),
  lastUsedAt: nullable(timestamp('Time of last use, to the minute.')),
  expiresAt: nullable(timestamp('Expiry time; null if it does not expire.')),
})

export const tokenNameSchema = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: visiblePattern,
  description: 'Name that says what the token is for.',
  example: 'Nightly export',
})

export const presentToken = ({ workspaceId: _, lastFour, ...row }: TeamTokenRow) => ({
  ...withIsoTimes(row),
  shown: `plt_…${lastFour}`,
})
