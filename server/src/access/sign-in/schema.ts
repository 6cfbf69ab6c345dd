import { Type } from 'typebox'
import { timestamp, titled } from '../../base/route.ts'
import { text } from '../../base/schema-types.ts'
import { idSchema } from '../../team/team-schema.ts'
import type { SessionRow } from './sessions.ts'

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

/** For what a session alone must not do. */
export const proofFields = {
  password: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 256,
      description: 'Your own. Needed when you are signed in; not with a token.',
      example: 'four plain words together',
    }),
  ),
  code: Type.Optional(codeSchema),
}

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
  lastSeenAt: timestamp(
    'Its last request, to the minute. Without another it ends 14 days later, unless the installation is set otherwise.',
  ),
  expiresAt: timestamp('When it ends in any case.'),
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
