import { type Static, Type } from 'typebox'
import type { Tx } from '../../base/db.ts'
import { type ApiError, InvalidInput } from '../../base/errors.ts'
import { maxMessageLength, oneOf } from '../../base/route.ts'
import { recordAudit } from '../../team/audit.ts'
import type { TeamApi } from '../../team/team-api.ts'
import { closed, idSchema } from '../../team/team-schema.ts'
import { auditedActorOf } from '../../workspaces/actor.ts'
import { FieldsToSet } from '../bulk/schema.ts'
import { parseLeadPatch } from '../lead/input.ts'
import { type LeadDeps, type LeadUser, leadNotFound } from '../lead/lead.ts'
import { presentLead } from '../lead/present.ts'
import { type LeadChanges, NoQuery } from '../lead/schema.ts'
import { type RestoreOutcome, restoreLeads } from '../write/restore.ts'
import { deleteLeads } from '../write/update.ts'
import { upsertLeads } from '../write/upsert.ts'
import type { UpsertOutcome } from '../write/upsert-plan.ts'
import { leadsPath, leadUserOfMember } from './lead-request.ts'

const maxBatch = 500

const BulkChange = Type.Object(
  {
    ids: Type.Array(idSchema('A lead.'), {
      minItems: 1,
      maxItems: maxBatch,
      description: 'At most 500 leads.',
    }),
    changes: Type.Optional(FieldsToSet),
    delete: Type.Optional(Type.Literal(true, { description: 'Deletes the leads; they can be restored for 30 days.' })),
    restore: Type.Optional(Type.Literal(true, { description: 'Restores deleted leads.' })),
  },
  { ...closed, example: { ids: ['01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e'], changes: { status: 'qualified' } } },
)

const ofBatch = (options: object = {}) => Type.Integer({ minimum: 0, maximum: maxBatch, ...options })

const BulkChanged = Type.Object({
  done: ofBatch({
    description: 'Number of leads that now have the requested state, including those that already had it.',
  }),
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
      description: 'One per id, in the order of the request. A repeated id counts once.',
    },
  ),
})

/** Routes that change a selection of leads in the request. */
export function bulkRoutes(api: TeamApi, deps: LeadDeps): void {
  api.post(`${leadsPath}/bulk-change`, 'member', {
    operationId: 'bulkChangeLeads',
    summary: 'Change, delete or restore many leads',
    description:
      'Exactly one of `changes`, `delete` and `restore`. Each lead is changed on its own, with its own event and history; a failure does not affect the others.',
    query: NoQuery,
    body: BulkChange,
    answers: { 200: BulkChanged },
    errors: [409],
    run: async ({ member, body }) => {
      const ids = [...new Set(body.ids.map((id) => id.toLowerCase()))]
      const action = parseAction(body)
      const outcomes = await deps.db.inBulk(() => bulkChange(deps, leadUserOfMember(member), ids, action))
      const results = outcomes.map(present)
      const failed = results.filter(({ outcome }) => outcome === 'failed').length
      return { done: results.length - failed, failed, results }
    },
  })
}

function parseAction(body: Static<typeof BulkChange>): BulkAction {
  const actions = [
    ...(body.changes === undefined ? [] : [{ changes: body.changes }]),
    ...(body.delete === undefined ? [] : [{ delete: body.delete }]),
    ...(body.restore === undefined ? [] : [{ restore: body.restore }]),
  ]
  const [action] = actions
  if (action === undefined || actions.length > 1) {
    throw new InvalidInput([{ path: '', message: 'must have exactly one of changes, delete and restore' }])
  }
  return action
}

function present({ id, outcome }: BulkOutcome) {
  if (typeof outcome === 'string') return { id, outcome }
  return { id, outcome: 'failed' as const, error: presentError(outcome) }
}

/** Action applied to every lead of a selection. */
type BulkAction = { delete: true } | { restore: true } | { changes: LeadChanges }

interface BulkOutcome {
  id: string
  outcome: 'changed' | 'unchanged' | 'deleted' | 'restored' | ApiError
}

/** Applies one action to many leads in one transaction, each as if on its own; a failure does not affect the others. */
async function bulkChange(
  deps: LeadDeps,
  user: LeadUser,
  ids: readonly string[],
  action: BulkAction,
): Promise<BulkOutcome[]> {
  // The audit log has the author, the action and the number of leads.
  const recordAuditEntry = async (tx: Tx, count: number) => {
    const actor = auditedActorOf(user.actor)
    if (count === 0 || actor === null) return
    const what = 'delete' in action ? 'deleted' : 'restore' in action ? 'restored' : 'changed'
    const fields = 'changes' in action ? `${Object.keys(action.changes).join(',')} ` : ''
    const entry = { action: `leads.bulk_${what}`, target: `${fields}leads:${count}` }
    await recordAudit(tx, { scopeId: user.workspaceId, actor, ...entry }, deps.clock.now())
  }
  if ('delete' in action) {
    const removed = await deleteLeads(deps, user, ids, (tx, { size }) => recordAuditEntry(tx, size))
    return ids.map((id) => ({ id, outcome: removed.has(id) ? 'deleted' : leadNotFound() }))
  }
  if ('restore' in action) {
    const inTransaction = (tx: Tx, all: RestoreOutcome[]) =>
      recordAuditEntry(tx, all.filter((one) => 'lead' in one).length)
    const restored = await restoreLeads(deps, user, ids, { inTransaction })
    return restored.map((one) => ({ id: one.id, outcome: 'error' in one ? one.error : 'restored' }))
  }
  const at = 'changes'
  // Fields that can be changed in bulk have no rules beyond their schema and workspace membership.
  const { patch } = parseLeadPatch(action.changes, [], { ...user, at })
  const items = ids.map((value) => ({ by: 'id', value, patch, createIfMissing: false, at }) as const)
  const outcomes = await upsertLeads(deps, user, items, {
    continueOnError: true,
    dryRun: false,
    inTransaction: (tx, all) => recordAuditEntry(tx, all.filter((outcome) => outcomeOf(outcome) === 'changed').length),
  })
  return outcomes.map((outcome, n) => ({ id: ids[n] ?? '', outcome: outcomeOf(outcome) }))
}

function outcomeOf(outcome: UpsertOutcome): BulkOutcome['outcome'] {
  if (outcome.action === 'failed') return outcome.error.statusCode === 404 ? leadNotFound() : outcome.error
  return outcome.action === 'updated' && outcome.before === outcome.lead ? 'unchanged' : 'changed'
}

/** Returns the response of a batch: counts, and one result per processed item. */
export function presentBulk(
  items: readonly unknown[],
  outcomes: readonly UpsertOutcome[],
  masked: boolean,
  dryRun: boolean,
) {
  const count = (action: UpsertOutcome['action']) => outcomes.filter((outcome) => outcome.action === action).length
  const failed = count('failed')
  return {
    success: failed === 0,
    processed: outcomes.length,
    created: count('created'),
    updated: count('updated'),
    failed,
    results: outcomes.map((outcome, index) => ({
      index,
      match: matchOf(items[index]),
      ...presentOutcome(outcome, masked),
    })),
    ...(dryRun ? { dryRun } : {}),
  }
}

function presentOutcome(outcome: UpsertOutcome, masked: boolean) {
  if (outcome.action === 'failed') return { success: false, error: presentError(outcome.error) }
  return { success: true, action: outcome.action, lead: presentLead(outcome.lead, masked) }
}

function presentError({ statusCode, message, data }: ApiError) {
  return { statusCode, statusMessage: message, ...(data === undefined ? {} : { data }) }
}

function matchOf(item: unknown): unknown {
  return typeof item === 'object' && item !== null && 'match' in item ? item.match : null
}
