import type { Tx } from '../../base/db.ts'
import type { ApiError } from '../../base/errors.ts'
import { recordAudit } from '../../team/audit.ts'
import { personOf } from '../../workspace/actor.ts'
import { leadNotFound } from '../lead/errors.ts'
import { readLeadPatch } from '../lead/input.ts'
import type { LeadDeps, LeadUser } from '../lead/lead.ts'
import type { LeadChanges } from '../lead/schema.ts'
import { removeLeads } from './remove.ts'
import { type Restored, restoreLeads } from './restore.ts'
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
  const note = (tx: Tx, count: number) => noteBulk(tx, user, action, count, deps.clock.now())
  if ('delete' in action) {
    const removed = await removeLeads(deps, user, ids, (tx, { size }) => note(tx, size))
    return ids.map((id) => ({ id, outcome: removed.has(id) ? 'deleted' : leadNotFound() }))
  }
  if ('restore' in action) {
    const alongside = (tx: Tx, all: Restored[]) => note(tx, all.filter((one) => 'lead' in one).length)
    const restored = await restoreLeads(deps, user, ids, { alongside })
    return restored.map((one) => ({ id: one.id, outcome: 'error' in one ? one.error : 'restored' }))
  }
  const at = 'changes'
  // None of the fields that can be changed in bulk has a rule beyond its schema and being a member.
  const { patch } = readLeadPatch(action.changes, [], { ...user, at })
  const items = ids.map((value) => ({ by: 'id', value, patch, createIfMissing: false, at }) as const)
  const outcomes = await upsertLeads(deps, user, items, {
    continueOnError: true,
    dryRun: false,
    alongside: (tx, all) => note(tx, all.filter((outcome) => resultOf(outcome) === 'changed').length),
  })
  return outcomes.map((outcome, n) => ({ id: ids[n] ?? '', outcome: resultOf(outcome) }))
}

/** Who did what to how many, for the audit log. */
async function noteBulk(tx: Tx, { workspaceId, actor: who }: LeadUser, action: BulkAction, count: number, now: Date) {
  const actor = personOf(who)
  if (count === 0 || actor === null) return
  const what = 'delete' in action ? 'deleted' : 'restore' in action ? 'restored' : 'changed'
  const fields = 'changes' in action ? `${Object.keys(action.changes).join(',')} ` : ''
  const entry = { scopeId: workspaceId, actor, action: `leads.bulk_${what}`, target: `${fields}leads:${count}` }
  await recordAudit(tx, entry, now)
}

function resultOf(outcome: UpsertOutcome): BulkOutcome['outcome'] {
  if (outcome.action === 'failed') return outcome.error.statusCode === 404 ? leadNotFound() : outcome.error
  return outcome.action === 'updated' && outcome.before === outcome.lead ? 'unchanged' : 'changed'
}
