import type { ApiError } from '../../base/errors.ts'
import type { Keyring } from '../../base/sealing/keyring.ts'
import { type LeadSeals, makeSeals } from '../lead/sealed.ts'
import { planUpserts, type UpsertItem, type UpsertOutcome } from './upsert-plan.ts'

/**
 * What a batch of upserts comes to if none of its leads is there yet and no assignee is a stranger: planned and sealed
 * while the batch before it is being written. Whether it came true is known under the locks; if not, it is forgotten.
 */
export interface PrefetchedPlan {
  outcomes: readonly UpsertOutcome[]
  /** Of the leads that are created, by their id. */
  seals: ReadonlyMap<string, LeadSeals>
  /** What they were sealed with: with newer keys they are sealed again. */
  keyring: Keyring
}

/** For batches that go on where an item fails. Null when an item changes the lead of another: that is not sealed twice. */
export function prefetchPlan(
  keyring: Keyring,
  items: readonly (UpsertItem | ApiError)[],
  now: Date,
): PrefetchedPlan | null {
  const context = { now, continueOnError: true, quotaLeft: Number.POSITIVE_INFINITY, nonMembers: nobody }
  const outcomes = planUpserts(items, [], context)
  if (outcomes.some(({ action }) => action === 'updated')) return null
  const created = outcomes.flatMap((outcome) => (outcome.action === 'created' ? outcome.lead : []))
  return { outcomes, seals: new Map(created.map((lead) => [lead.id, makeSeals(keyring, lead)])), keyring }
}

const nobody: ReadonlySet<string> = new Set()

/** The outcomes as of now: a lead is created when it is written. */
export function asPrefetched(prefetched: PrefetchedPlan | null | undefined, keyring: Keyring, now: Date) {
  if (prefetched?.keyring !== keyring) return null
  const outcomes = prefetched.outcomes.map((outcome) =>
    outcome.action === 'created' ? { ...outcome, lead: { ...outcome.lead, createdAt: now, updatedAt: now } } : outcome,
  )
  return { outcomes, seals: prefetched.seals }
}
