import type { ApiError } from '../../base/errors.ts'
import { leadNotFound } from '../lead/errors.ts'
import { readLeadPatch } from '../lead/input.ts'
import type { LeadDeps, LeadUser } from '../lead/lead.ts'
import type { LeadChanges } from '../lead/schema.ts'
import { removeLeads } from './remove.ts'
import { restoreLeads } from './restore.ts'
import { upsertLeads } from './upsert.ts'
import type { UpsertOutcome } from './upsert-plan.ts'

/** What becomes of every lead of a selection. */
export type BulkAction = { delete: true } | { restore: true } | { changes: LeadChanges }

export interface BulkOutcome {
  id: string
  outcome: 'changed' | 'unchanged' | 'deleted' | 'restored' | ApiError
}

/** Does one thing to many leads in one transaction, each as if it were done alone; one that fails stops no other. */
export async function bulkChange(
  deps: LeadDeps,
  user: LeadUser,
  ids: readonly string[],
  action: BulkAction,
): Promise<BulkOutcome[]> {
  if ('delete' in action) {
    const removed = await removeLeads(deps, user, ids)
    return ids.map((id) => ({ id, outcome: removed.has(id) ? 'deleted' : leadNotFound() }))
  }
  if ('restore' in action) {
    const restored = await restoreLeads(deps, user, ids)
    return restored.map((one) => ({ id: one.id, outcome: 'error' in one ? one.error : 'restored' }))
  }
  const at = 'changes'
  // None of the fields that can be changed in bulk has a rule beyond its schema and being a member.
  const { patch } = readLeadPatch(action.changes, [], { ...user, at })
  const items = ids.map((value) => ({ by: 'id', value, patch, createIfMissing: false, at }) as const)
  const outcomes = await upsertLeads(deps, user, items, { continueOnError: true, dryRun: false })
  return outcomes.map((outcome, n) => ({ id: ids[n] ?? '', outcome: resultOf(outcome) }))
}

function resultOf(outcome: UpsertOutcome): BulkOutcome['outcome'] {
  if (outcome.action === 'failed') return outcome.error.statusCode === 404 ? leadNotFound() : outcome.error
  return outcome.action === 'updated' && outcome.before === outcome.lead ? 'unchanged' : 'changed'
}
