import { type Static, Type } from 'typebox'
import { instanceScope } from '../../base/encryption/key-store.ts'
import { type App, nullable, oneOf, timestamp, titled } from '../../base/route.ts'
import { count, page, text } from '../../base/schema-types.ts'
import { readTime } from '../../base/time.ts'
import { type AuditRow, listAudit } from '../../team/audit.ts'
import type { TeamGuard } from '../../team/member.ts'
import { teamApi } from '../../team/team-api.ts'
import { closed, idSchema } from '../../team/team-schema.ts'
import type { TeamDeps } from '../users/users.ts'

const actorTypes = ['user', 'token', 'agent', 'system'] as const

const entry = titled('AuditEntry', {
  id: idSchema('The entry.'),
  at: timestamp('Time of the action.'),
  actor: Type.Object({
    type: oneOf(actorTypes, { title: 'AuditActorType', example: 'user' }),
    id: nullable(idSchema('The user, token or key.')),
  }),
  action: text(100, 'The action.', { example: 'member.role-changed' }),
  target: nullable(text(500, 'Target of the action.', { example: 'member:01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e' })),
  count: count('Number of occurrences. More than 1 if the entry combines equal actions within an hour of `at`.', {
    minimum: 1,
    example: 1,
  }),
  details: nullable(
    Type.Object(
      {},
      {
        additionalProperties: true,
        title: 'AuditDetails',
        description: 'Changed settings, each with its value `before` and `after`. Null: not recorded for this action.',
        example: { maxParts: { before: 1, after: 3 } },
      },
    ),
  ),
})

const entries = titled('AuditEntries', {
  entries: Type.Array(entry, page),
  nextBefore: nullable(idSchema('Cursor of the next page; null at the end.')),
})

const query = Type.Object(
  {
    limit: Type.Integer({ minimum: 1, maximum: 100, default: 50, description: 'Entries per page.', example: 50 }),
    before: Type.Optional(idSchema('`nextBefore` of the previous page. Returns older entries.')),
    actorId: Type.Optional(idSchema('Only actions of this user, token or key.')),
    actorType: Type.Optional(
      oneOf(actorTypes, {
        title: 'AuditActorType',
        description: 'Only actions of this type of actor; `system` is the service itself.',
      }),
    ),
    thing: Type.Optional(
      Type.String({
        pattern: '^[a-z_-]{1,50}$',
        maxLength: 50,
        description: 'Only actions on this type of resource: the part of the action before the dot.',
        example: 'api-key',
      }),
    ),
    target: Type.Optional(
      text(100, 'Only actions on this target.', { example: 'api-key:01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e' }),
    ),
    from: Type.Optional(timestamp('Only actions at or after this time.')),
    to: Type.Optional(timestamp('Only actions at or before this time.')),
  },
  closed,
)

export function auditTeamRoutes(app: App, { db }: TeamDeps, guard: TeamGuard): void {
  const api = teamApi(app, guard, 'Audit log')
  const operation = {
    summary: 'Read the audit log',
    description:
      'Newest first. For admins of a workspace; for operators, the log of the installation. With a filter a page may be short or empty: continue while `nextBefore` is not null.',
    query,
    answers: { 200: entries },
    allErrors: [400, 401, 403, 404] as const,
  }
  const read = async (scopeId: string, criteria: Static<typeof query>) => {
    const { limit, before = null, actorId = null, actorType = null, thing = null, target = null, from, to } = criteria
    const period = { from: readTime('from', from, 'query'), to: readTime('to', to, 'query') }
    const filter = { actorId, actorType, thing, target, ...period }
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

function present(row: AuditRow) {
  const { id, at, action, target, count, details } = row
  return { id, at: at.toISOString(), actor: { type: row.actor_type, id: row.actor_id }, action, target, count, details }
}
