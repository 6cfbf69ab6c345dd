import type { Sql } from '../../base/db.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { selectedAs } from '../../base/postgres/rows.ts'
import { nullable, oneOf, timestamp, titled } from '../../base/route.ts'
import { text } from '../../base/schema-types.ts'
import { withIsoTimes } from '../../base/time.ts'
import type { MailStatus } from '../../mail/mails.ts'
import type { Role } from '../../team/member.ts'
import { emailSchema, idSchema, personNameSchema, roleSchema } from '../../team/team-schema.ts'
import type { PauseReason } from '../api-keys/queries.ts'
import { createdBySchema } from '../credentials/team-tokens.ts'
import { listMembers, type WorkspaceMember } from '../users/members.ts'
import type { Invitation } from './invitations.ts'

/** All possible actors of a workspace, with names. */
interface People {
  members: { id: string; name: string; role: Role }[]
  keys: KeyRow[]
  tokens: NamedRow[]
}

export interface NamedRow {
  id: string
  name: string
  expiresAt: Date | null
  revokedAt: Date | null
}

export interface KeyRow extends NamedRow {
  pausedAt: Date | null
  pausedWhy: PauseReason | null
}

const namedProperties = ['id', 'name', 'expiresAt', 'revokedAt']

/** Returns all possible actors. Includes revoked and expired keys and tokens, to name them in what they did. */
export async function listPeople(sql: Sql, workspaceId: string, instanceKeys: Keyring): Promise<People> {
  const [members, keys, tokens] = await Promise.all([
    listMembers(sql, workspaceId, instanceKeys),
    listNamedKeys(sql, workspaceId),
    sql<NamedRow[]>`
      select ${selectedAs('team_tokens', namedProperties)}
      from team_tokens
      where workspace_id = ${workspaceId}
      order by created_at, id`,
  ])
  return { members: members.map(({ userId, name, role }) => ({ id: userId, name, role })), keys, tokens }
}

/** Returns the API keys of a workspace, oldest first. */
export async function listNamedKeys(sql: Sql, workspaceId: string): Promise<KeyRow[]> {
  return sql<KeyRow[]>`
    select ${selectedAs('api_keys', [...namedProperties, 'pausedAt', 'pausedWhy'])}
    from api_keys
    where workspace_id = ${workspaceId}
    order by id`
}

const mailSchema = titled('MailStatus', {
  status: oneOf(['waiting', 'sent', 'refused', 'expired'] as const, {
    description:
      '`waiting`: not yet accepted by the mail server. `sent`: accepted. `refused`: the server refused the address or the mail for good. `expired`: not delivered in time.',
    example: 'refused',
  }),
  answer: nullable(
    text(400, 'Last answer of the mail server; null before the first attempt.', {
      example: '550 5.1.1 Mailbox does not exist',
    }),
  ),
  at: timestamp('Time of that state.'),
})

export const memberSchema = titled('Member', {
  userId: idSchema('The user.'),
  name: personNameSchema,
  email: emailSchema,
  role: roleSchema,
  joinedAt: timestamp('When the user joined the workspace.'),
  awaySince: nullable(timestamp('Since when the member is away, as set by themselves or an admin; null if not away.')),
  awayUntil: nullable(timestamp('When the member is back; null if not away, or until they say so.')),
  failedMail: nullable(mailSchema),
})

export const invitationSchema = titled('Invitation', {
  id: idSchema('The invitation.'),
  email: emailSchema,
  role: roleSchema,
  createdBy: createdBySchema,
  createdAt: timestamp('Creation time.'),
  expiresAt: timestamp('Time until which its link works.'),
  mail: nullable(mailSchema),
})

/** `failedMail`: the person's last mail, if it was not delivered and the reader is an admin. */
export function presentMember(member: WorkspaceMember, now: Date, failedMail: MailStatus | null) {
  const { awayUntil } = member
  const isBack = awayUntil !== null && awayUntil <= now
  return {
    ...withIsoTimes(isBack ? { ...member, awaySince: null, awayUntil: null } : member),
    failedMail: failedMail && withIsoTimes(failedMail),
  }
}

export const presentInvitation = ({ mail, ...invitation }: Invitation) => ({
  ...withIsoTimes(invitation),
  mail: mail && withIsoTimes(mail),
})
