import { Type } from 'typebox'
import { nullable, timestamp, titled } from '../../base/route.ts'
import { text } from '../../base/schema-types.ts'
import { emailSchema, idSchema, personNameSchema, roleSchema } from '../../team/team-schema.ts'
import type { SessionRow } from '../sign-in/sessions.ts'
import type { TeamTokenRow } from '../team/team-tokens.ts'
import type { Invitation } from './invitations.ts'
import type { WorkspaceMember } from './members.ts'

export const csrfTokenSchema = Type.String({
  maxLength: 100,
  description: 'Goes into the `x-parley-csrf` header of every change made with this session.',
  example: 'Zx0S3mY2cJm5Tq0oZ1y8pKk4bq9n2Q7uVw6sL1rH0aE',
})

export const codeSchema = Type.String({
  minLength: 6,
  maxLength: 40,
  description: 'Six digits of the authenticator, or a recovery code.',
  example: '492039',
})

/** How every sign-in ends: in, or one step before it. */
export const signInSchema = titled('SignInStep', {
  step: Type.Unsafe<'done' | 'totp'>({
    type: 'string',
    enum: ['done', 'totp'],
    description: '`done`: the session cookie is set. `totp`: send a code with the challenge to /sign-in/totp.',
    example: 'done',
  }),
  csrfToken: Type.Optional(csrfTokenSchema),
  challenge: Type.Optional(text(100, 'Good for five minutes.', { example: 'q3v0nYxB0d…' })),
})

export const sessionSchema = titled('Session', {
  id: idSchema('The session.'),
  device: text(100, 'Browser and system.', { example: 'Firefox on Linux' }),
  current: Type.Boolean({ description: 'Whether it is the one that asks.', example: true }),
  createdAt: timestamp('When it began.'),
  lastSeenAt: timestamp('Its last request, to the minute. It ends 12 hours after it.'),
  expiresAt: timestamp('When it ends in any case.'),
})

export const memberSchema = titled('Member', {
  userId: idSchema('The user.'),
  name: personNameSchema,
  email: emailSchema,
  role: roleSchema,
  joinedAt: timestamp('When the user joined the workspace.'),
})

const madeBy = nullable(
  idSchema(
    'The member who made it, or who made the token that did; null for the command line and the operator’s token.',
  ),
)

export const invitationSchema = titled('Invitation', {
  id: idSchema('The invitation.'),
  email: emailSchema,
  role: roleSchema,
  createdBy: madeBy,
  createdAt: timestamp('When it was made.'),
  expiresAt: timestamp('Until when its link works.'),
})

export const tokenSchema = titled('TeamToken', {
  id: idSchema('The token.'),
  name: text(100, 'What it is for.', { example: 'Nightly export' }),
  role: roleSchema,
  shown: text(20, 'Prefix and last four characters.', { example: 'plt_…8fK2' }),
  createdBy: madeBy,
  createdAt: timestamp('When it was made.'),
  lastUsedAt: nullable(timestamp('Its last use, to the minute.')),
  expiresAt: nullable(timestamp('When it stops working; null: when it is revoked.')),
})

export const tokenNameSchema = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: '\\S',
  description: 'What it is for.',
  example: 'Nightly export',
})

export function presentSession(row: SessionRow, currentId: string) {
  return {
    id: row.id,
    device: row.device,
    current: row.id === currentId,
    createdAt: row.created_at.toISOString(),
    lastSeenAt: row.last_seen_at.toISOString(),
    expiresAt: row.expires_at.toISOString(),
  }
}

export function presentMember(member: WorkspaceMember) {
  return { ...member, joinedAt: member.joinedAt.toISOString() }
}

export function presentInvitation({ id, email, role, createdBy, createdAt, expiresAt }: Invitation) {
  return { id, email, role, createdBy, createdAt: createdAt.toISOString(), expiresAt: expiresAt.toISOString() }
}

export function presentToken(row: TeamTokenRow) {
  return {
    id: row.id,
    name: row.name,
    role: row.role,
    shown: `plt_…${row.last_four}`,
    createdBy: row.created_by,
    createdAt: row.created_at.toISOString(),
    lastUsedAt: row.last_used_at?.toISOString() ?? null,
    expiresAt: row.expires_at?.toISOString() ?? null,
  }
}
