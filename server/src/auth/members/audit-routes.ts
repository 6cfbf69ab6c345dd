import type { Static } from 'typebox'
import { Type } from 'typebox'
import { instanceScope } from '../../base/encryption/key-store.ts'
import { invalid } from '../../base/errors.ts'
import { type App, nullable, oneOf, timestamp, titled } from '../../base/route.ts'
import { count, page, text } from '../../base/schema-types.ts'
import { readIsoTime } from '../../base/time.ts'
import { type AuditRow, listAudit } from '../../team/audit.ts'
import type { TeamGuard } from '../../team/member.ts'
import { teamApi } from '../../team/team-api.ts'
import { closed, idSchema } from '../../team/team-schema.ts'
import type { TeamDeps } from '../users/users.ts'

const actorTypes = ['user', 'token', 'agent', 'system'] as const

const entry = titled('AuditEntry', {
  id: idSchema('The line.'),
  at: timestamp('When it happened.'),
  actor: Type.Object({
    type: oneOf(actorTypes, { title: 'AuditActorType', example: 'user' }),
    id: nullable(idSchema('The user, token or key.')),
  }),
  action: text(100, 'What was done.', { example: 'member.role-changed' }),
  target: nullable(text(500, 'What it was done to.', { example: 'member:01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e' })),
  count: count('How often. More than 1 where one line stands for many: what happened so within an hour of `at`.', {
    minimum: 1,
    example: 1,
  }),
})

const entries = titled('AuditEntries', {
  entries: Type.Array(entry, page),
  nextBefore: nullable(idSchema('For the next page; null at the end.')),
})

const query = Type.Object(
  {
    limit: Type.Integer({ minimum: 1, maximum: 100, default: 50, description: 'Lines to answer.', example: 50 }),
    before: Type.Optional(idSchema('`nextBefore` of the page before: older lines follow.')),
    actorId: Type.Optional(idSchema('Only what this user, token or key did.')),
    actorType: Type.Optional(
      oneOf(actorTypes, {
        title: 'AuditActorType',
        description: 'Only what such actors did; `system` is the service itself.',
      }),
    ),
    thing: Type.Optional(
      Type.String({
        pattern: '^[a-z_-]{1,50}$',
        maxLength: 50,
        description: 'Only what was done to such things: the word before the dot of the action.',
        example: 'api-key',
      }),
    ),
    from: Type.Optional(timestamp('Only what happened then or later.')),
    to: Type.Optional(timestamp('Only what happened then or earlier.')),
  },
  closed,
)

/** Who did what and when, in a workspace or in the installation. Nobody edits it. */
export function auditTeamRoutes(app: App, { db }: TeamDeps, guard: TeamGuard): void {
  const api = teamApi(app, guard, 'Audit log')
  const operation = {
    summary: 'Read the audit log',
    description:
      'Newest first. For admins of a workspace; that of the installation is for operators. With a filter that fits little, a page may be short or empty: go on while there is a `nextBefore`.',
    query,
    answers: { 200: entries },
    allErrors: [400, 401, 403, 404] as const,
  }
  const read = async (scopeId: string, asked: Static<typeof query>) => {
    const { limit, before = null, actorId = null, actorType = null, thing = null, from, to } = asked
    const filter = { actorId, actorType, thing, from: readTime('from', from), to: readTime('to', to) }
    const found = await listAudit(db.sql, scopeId, filter, { limit, before: before?.toLowerCase() ?? null })
    return { entries: found.rows.map(present), nextBefore: found.before }
  }
  api.get('/api/team/v1/workspaces/:workspaceId/audit', 'admin', {
    operationId: 'listAuditLog',
    ...operation,
    run: ({ member, query }) => read(member.workspaceId, query),
  })
  api.get('/api/team/v1/audit', 'operator', {
    operationId: 'listInstallationAuditLog',
    ...operation,
    run: ({ query }) => read(instanceScope, query),
  })
}

function readTime(field: string, text: string | undefined): Date | null {
  const time = text === undefined ? null : readIsoTime(text)
  if (text !== undefined && time === null) throw invalid(field, 'must be an ISO 8601 time', 'query')
  return time
}

function present(row: AuditRow) {
  const { id, at, action, target, count } = row
  return { id, at: at.toISOString(), actor: { type: row.actor_type, id: row.actor_id }, action, target, count }
}
