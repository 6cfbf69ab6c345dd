import { Type } from 'typebox'
import { nullable, timestamp, titled } from '../../base/route.ts'
import { text, visible } from '../../base/schema-types.ts'
import { idSchema, roleSchema } from '../../team/team-schema.ts'
import type { TeamTokenRow } from './team-tokens.ts'

export const madeBySchema = nullable(
  idSchema(
    'The member who made it, or who made the token that did; null for the command line and the operator’s token.',
  ),
)

export const tokenSchema = titled('TeamToken', {
  id: idSchema('The token.'),
  name: text(100, 'What it is for.', { example: 'Nightly export' }),
  role: roleSchema,
  shown: text(20, 'Prefix and last four characters.', { example: 'plt_…8fK2' }),
  createdBy: madeBySchema,
  createdAt: timestamp('When it was made.'),
  lastUsedAt: nullable(timestamp('Its last use, to the minute.')),
  expiresAt: nullable(timestamp('When it stops working; null: when it is revoked.')),
})

export const tokenNameSchema = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: visible,
  description: 'What it is for.',
  example: 'Nightly export',
})

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
