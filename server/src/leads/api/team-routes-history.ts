import { Type } from 'typebox'
import { type App, errors, nullable, oneOf, timestamp, titled } from '../../base/route.ts'
import { leadStatus, unpaged, uuid } from '../../base/schema-types.ts'
import { memberOf, type TeamGuard } from '../../team/member.ts'
import { idSchema, teamRoute, workspaceParams } from '../../team/team-schema.ts'
import { listLabelChanges } from '../labels/lead-labels.ts'
import { listStatusChanges } from '../lead/history.ts'
import { findLead } from '../lead/identify.ts'
import type { LeadDeps } from '../lead/lead.ts'
import { Identifier, labelIds, NoQuery } from '../lead/schema.ts'
import { leadUserOf } from './team-request.ts'

const StatusChange = titled('StatusChange', {
  id: idSchema('The entry.'),
  from: leadStatus('The status before.', { example: 'new' }),
  to: leadStatus('The status after.', { example: 'qualified' }),
  actor: Type.Object({
    type: oneOf(['agent', 'user', 'token', 'form', 'system'], {
      description: 'An API key, a member, a team token, a lead form, or the service itself.',
    }),
    id: nullable(uuid('Null for `system`.')),
  }),
  at: timestamp('When the status changed.'),
})

const LabelChange = titled('LeadLabelChange', {
  id: idSchema('The entry.'),
  added: labelIds('Labels that it got, by some that are deleted since.'),
  removed: labelIds('Labels that it lost.'),
  actor: StatusChange.properties.actor,
  at: timestamp('When they changed.'),
})

/** The statuses that a lead has had, and what was done to its labels. */
export function historyTeamRoute(app: App, deps: LeadDeps, guard: TeamGuard): void {
  app.route({
    method: 'GET',
    url: '/api/team/v1/workspaces/:workspaceId/leads/:identifier/history',
    onRequest: guard.member('member'),
    schema: {
      ...teamRoute('Team leads'),
      operationId: 'listLeadHistory',
      summary: "List a lead's status and label changes",
      description: 'Oldest first, at most 1,000 of each. The lead is named as in the leads interface.',
      params: Type.Object({ ...workspaceParams, ...Identifier.properties }),
      querystring: NoQuery,
      response: {
        200: Type.Object({ history: Type.Array(StatusChange, unpaged), labels: Type.Array(LabelChange, unpaged) }),
        ...errors(400, 401, 404),
      },
    },
    handler: async (request) => {
      const user = leadUserOf(memberOf(request))
      const keyring = await deps.vault.keyring(user.workspaceId)
      const { id } = await findLead(deps.db.sql, keyring, user, request.params.identifier)
      const [changes, labels] = await Promise.all([
        listStatusChanges(deps.db.sql, user.workspaceId, id),
        listLabelChanges(deps.db.sql, user.workspaceId, id),
      ])
      return {
        history: changes.map((change) => ({
          id: change.id,
          from: change.from_status,
          to: change.to_status,
          actor: { type: change.actor_type, id: change.actor_id },
          at: change.changed_at.toISOString(),
        })),
        labels: labels.map((change) => ({
          id: change.id,
          added: change.added,
          removed: change.removed,
          actor: { type: change.actor_type, id: change.actor_id },
          at: change.changed_at.toISOString(),
        })),
      }
    },
  })
}
