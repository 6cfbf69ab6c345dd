import { Type } from 'typebox'
import { forbidden } from '../../base/errors.ts'
import { nullable, oneOf, timestamp } from '../../base/route.ts'
import { text, unpaged } from '../../base/schema-types.ts'
import { type Member, roleCovers } from '../../team/member.ts'
import { idSchema } from '../../team/team-schema.ts'
import { listTeamTokensOf } from '../credentials/team-tokens.ts'
import { presentToken, tokenSchema } from '../credentials/token-schema.ts'
import { keySchema, presentKey } from '../keys/key-schema.ts'
import { selectUsableKeysOf } from '../keys/queries.ts'
import { findMember, memberNotFound } from '../users/members.ts'
import type { LeavingDeps, MadeWebhook } from './change-members.ts'
import { listInvitations } from './invitations.ts'
import { invitationSchema, presentInvitation } from './schema.ts'

const webhook = Type.Object({
  id: idSchema('The endpoint.'),
  url: text(300, 'Its host.', { example: 'https://hooks.example.com/…' }),
  description: nullable(text(200, 'What it is for.', { example: 'Warehouse' })),
  state: oneOf(['active', 'disabled'], { example: 'active' }),
  createdAt: timestamp('When it was made.'),
  lastUsedAt: nullable(timestamp('When it last took an event.')),
})

export const madeSchema = Type.Object({
  keys: Type.Array(keySchema, {
    ...unpaged,
    description: 'API keys that work: they stay unless the remover revokes them.',
  }),
  webhooks: Type.Array(webhook, { ...unpaged, description: 'They stay unless the remover disables them.' }),
  tokens: Type.Array(tokenSchema, {
    ...unpaged,
    description: 'Team tokens of this workspace: they stop with the membership.',
  }),
  invitations: Type.Array(invitationSchema, {
    ...unpaged,
    description: 'Open ones: they are withdrawn with the membership.',
  }),
})

/** What somebody made in the workspace and still works, for whoever removes them to decide on. */
export async function readMade(deps: LeavingDeps, by: Member, userId: string) {
  const { workspaceId } = by
  if (by.userId !== userId && !roleCovers(by.role, 'admin'))
    throw forbidden('Only admins and owners see this of others')
  const { db, vault } = deps
  if ((await findMember(db.sql, workspaceId, userId)) === undefined) throw memberNotFound()
  const now = deps.clock.now()
  const [keys, webhooks, tokens, invitations] = await Promise.all([
    selectUsableKeysOf(db.sql, workspaceId, userId, now),
    deps.webhooksOf(workspaceId, userId),
    listTeamTokensOf(db.sql, workspaceId, userId, now),
    vault.withKeyring(workspaceId, (keyring) => listInvitations(db.sql, workspaceId, keyring, now)),
  ])
  return {
    keys: keys.map((row) => presentKey(row, now)),
    webhooks: webhooks.map(presentWebhook),
    tokens: tokens.map(presentToken),
    invitations: invitations.filter(({ createdBy }) => createdBy === userId).map(presentInvitation),
  }
}

function presentWebhook({ createdAt, lastUsedAt, ...shown }: MadeWebhook) {
  return { ...shown, createdAt: createdAt.toISOString(), lastUsedAt: lastUsedAt?.toISOString() ?? null }
}
