import { type Static, Type } from 'typebox'
import { InvalidInput } from '../../base/errors.ts'
import { type App, errors, maxMessageLength, oneOf } from '../../base/route.ts'
import { memberOf, type TeamGuard } from '../../team/member.ts'
import { closed, idSchema, teamRoute } from '../../team/team-schema.ts'
import type { LeadDeps } from '../lead/lead.ts'
import { LeadChanges, NoQuery } from '../lead/schema.ts'
import { type BulkAction, type BulkOutcome, bulkChange } from '../write/bulk-change.ts'
import { presentError } from '../write/present-bulk.ts'
import { leadsPath, leadUserOf, ofWorkspace } from './team-request.ts'

const changes = Type.Pick(LeadChanges, ['status', 'priority', 'source', 'assignedTo'], {
  title: 'FieldsToSet',
  ...closed,
  minProperties: 1,
  description: 'Fields to set on every one of them; null takes them from whom they are assigned to.',
})

const maxBatch = 500

const BulkChange = Type.Object(
  {
    ids: Type.Array(idSchema('A lead.'), {
      minItems: 1,
      maxItems: maxBatch,
      description: 'At most 500 leads.',
    }),
    changes: Type.Optional(changes),
    delete: Type.Optional(Type.Literal(true, { description: 'Deletes them, restorable for 30 days.' })),
    restore: Type.Optional(Type.Literal(true, { description: 'Brings deleted ones back.' })),
  },
  { ...closed, example: { ids: ['01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e'], changes: { status: 'qualified' } } },
)

const ofBatch = (options: object = {}) => Type.Integer({ minimum: 0, maximum: maxBatch, ...options })

const BulkChanged = Type.Object({
  done: ofBatch({ description: 'How many are as they were asked to be, those that were so before included.' }),
  failed: ofBatch(),
  results: Type.Array(
    Type.Object({
      id: idSchema('The lead.'),
      outcome: oneOf(['changed', 'unchanged', 'deleted', 'restored', 'failed']),
      error: Type.Optional(
        Type.Object({
          statusCode: Type.Integer({ minimum: 400, maximum: 599, example: 404 }),
          statusMessage: Type.String({ maxLength: maxMessageLength, example: 'Lead not found' }),
          data: Type.Optional(Type.Unsafe<Record<string, unknown>>({ type: 'object' })),
        }),
      ),
    }),
    {
      maxItems: maxBatch,
      description: 'One for each id, in the order of the request; an id that is named again counts once.',
    },
  ),
})

/** One thing done to a selection of leads. */
export function bulkTeamRoute(app: App, deps: LeadDeps, guard: TeamGuard): void {
  app.route({
    method: 'POST',
    url: `${leadsPath}/bulk-change`,
    onRequest: guard.member('member'),
    schema: {
      ...teamRoute('Team leads'),
      operationId: 'bulkChangeLeads',
      summary: 'Change, delete or restore many leads',
      description:
        'Exactly one of `changes`, `delete` and `restore`. Each lead is treated as if alone, with its own event and history; one that fails stops no other.',
      params: ofWorkspace,
      querystring: NoQuery,
      body: BulkChange,
      response: { 200: BulkChanged, ...errors(400, 401, 403, 404, 409, 413, 415) },
    },
    handler: async (request) => {
      const ids = [...new Set(request.body.ids.map((id) => id.toLowerCase()))]
      const action = readAction(request.body)
      const outcomes = await deps.db.inBulk(() => bulkChange(deps, leadUserOf(memberOf(request)), ids, action))
      const results = outcomes.map(present)
      const failed = results.filter(({ outcome }) => outcome === 'failed').length
      return { done: results.length - failed, failed, results }
    },
  })
}

function readAction(body: Static<typeof BulkChange>): BulkAction {
  const asked = [
    ...(body.changes === undefined ? [] : [{ changes: body.changes }]),
    ...(body.delete === undefined ? [] : [{ delete: body.delete }]),
    ...(body.restore === undefined ? [] : [{ restore: body.restore }]),
  ]
  const [action] = asked
  if (action === undefined || asked.length > 1) {
    throw new InvalidInput([{ path: '', message: 'must have exactly one of changes, delete and restore' }])
  }
  return action
}

function present({ id, outcome }: BulkOutcome) {
  if (typeof outcome === 'string') return { id, outcome }
  return { id, outcome: 'failed' as const, error: presentError(outcome) }
}
