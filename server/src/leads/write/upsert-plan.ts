import { type LookupBudget, unlimited } from '../../auth/rate-limit/lookup-limit.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { ApiError, InvalidInput, type Issue } from '../../base/errors.ts'
import { newId } from '../../base/id.ts'
import { phoneClass } from '../../base/phone/phone-variants.ts'
import { applyPatch, newLead } from '../lead/change.ts'
import { type EncryptedFields, encryptFields } from '../lead/encrypted-lead.ts'
import { revealsMissingNumber } from '../lead/find-lead.ts'
import type { LeadPatch, MatchBy, UpsertItem } from '../lead/input.ts'
import { assigneeIssue, type Lead, noLeadToUpdate, quotaReached, type UniqueField, valueTaken } from '../lead/lead.ts'

export type UpsertOutcome =
  | { action: 'created'; lead: Lead }
  | { action: 'updated'; lead: Lead; before: Lead }
  | { action: 'failed'; error: ApiError }

interface PlanContext {
  now: Date
  continueOnError: boolean
  stopAtQuota?: boolean
  /** Number of leads that may still be created. */
  quotaLeft: number
  /** Users in `assignedTo` who are not members. */
  nonMembers: ReadonlySet<string>
  /** Remaining lookup budget of a masked caller. */
  lookupBudget?: LookupBudget
}

/**
 * Plans the outcome of each item, in order; each item sees the changes of earlier ones. Pure: the caller passes all
 * leads that the items match, and holds locks on them.
 */
export function planUpserts(
  items: readonly (UpsertItem | ApiError)[],
  leads: readonly Lead[],
  context: PlanContext,
): UpsertOutcome[] {
  const set = workingSet(leads)
  const outcomes: UpsertOutcome[] = []
  let { quotaLeft } = context
  const { lookupBudget = unlimited } = context
  let lookupsLeft = lookupBudget.remaining()

  const run = (item: UpsertItem | ApiError): UpsertOutcome => {
    if (item instanceof ApiError) return { action: 'failed', error: item }
    const { by, value, storedDigits } = item
    const before = (storedDigits && set.find('phone', storedDigits)) || set.find(by, value)
    if (lookupsLeft === 0 && item.namesNumber) return { action: 'failed', error: lookupBudget.limitError() }
    if (before === undefined && !item.createIfMissing) return { action: 'failed', error: noLeadToUpdate() }
    const { lead, issues } =
      before === undefined
        ? newLead(withMatchedField(item), newId(context.now), item.at, context.now)
        : applyPatch(before, item.patch, item.at, context.now)
    const error =
      problemOf([...issues, ...nonMemberIssues(item, before, context.nonMembers)]) ??
      takenFieldError(lead) ??
      (before === undefined && quotaLeft === 0 ? quotaReached(context.now) : null)
    if (error !== null) return { action: 'failed', error }
    set.put(lead)
    if (before !== undefined) return { action: 'updated', lead, before }
    quotaLeft--
    return { action: 'created', lead }
  }

  const takenFieldError = (lead: Lead): ApiError | null => {
    for (const field of ['externalRef', 'uniqueCode'] as const) {
      const value = lead[field]
      const owner = value === null ? undefined : set.find(field, value)
      if (owner !== undefined && owner.id !== lead.id) return valueTaken(field)
    }
    return null
  }

  const stopsAt = (error: ApiError) => context.stopAtQuota === true && error.statusCode === 429

  for (const item of items) {
    const outcome = run(item)
    outcomes.push(outcome)
    if (lookupBudget !== unlimited && upsertRevealsMissingNumber(item, outcome)) lookupsLeft--
    if (outcome.action === 'failed' && (!context.continueOnError || stopsAt(outcome.error))) break
  }
  return outcomes
}

/** Returns true if an upsert of a masked caller shows that a number did not exist. */
export function upsertRevealsMissingNumber(item: UpsertItem | ApiError, outcome: UpsertOutcome): boolean {
  if (item instanceof ApiError) return false
  const { namesNumber = false } = item
  if (outcome.action === 'failed') return namesNumber && outcome.error.data?.code !== 'RATE_LIMITED'
  return outcome.action === 'created' ? namesNumber : revealsMissingNumber(item.patch, outcome.before, outcome.lead)
}

// A new lead gets the value it was matched by, unless the item sets that field.
function withMatchedField({ by, value, patch }: UpsertItem): LeadPatch {
  if (by === 'id' || patch.fields[by] !== undefined) return patch
  return { ...patch, fields: { ...patch.fields, [by]: value } }
}

function nonMemberIssues(item: UpsertItem, before: Lead | undefined, nonMembers: ReadonlySet<string>): Issue[] {
  const { assignedTo } = item.patch.fields
  if (typeof assignedTo !== 'string' || assignedTo === before?.assignedTo || !nonMembers.has(assignedTo)) return []
  return [assigneeIssue(item.at)]
}

function problemOf(issues: Issue[]): ApiError | null {
  return issues.length === 0 ? null : new InvalidInput(issues)
}

/** Leads touched by a batch, as they are after each item. */
interface WorkingSet {
  /** Returns the lead with this value; of several with one phone the oldest, and merged leads last. */
  find(by: MatchBy, value: string): Lead | undefined
  put(lead: Lead): void
}

function workingSet(leads: readonly Lead[]): WorkingSet {
  const byId = new Map<string, Lead>()
  const byName: Record<UniqueField, Map<string, string>> = { uniqueCode: new Map(), externalRef: new Map() }
  const byPhone = new Map<string, Set<string>>()
  const byContact = new Map<string, Set<string>>()

  const put = (lead: Lead) => {
    const before = byId.get(lead.id)
    if (before !== undefined) {
      byName.uniqueCode.delete(before.uniqueCode)
      if (before.externalRef !== null) byName.externalRef.delete(before.externalRef)
      if (before.phone !== null) byPhone.get(phoneClass(before.phone))?.delete(before.id)
    }
    byId.set(lead.id, lead)
    byName.uniqueCode.set(lead.uniqueCode, lead.id)
    if (lead.externalRef !== null) byName.externalRef.set(lead.externalRef, lead.id)
    if (lead.phone !== null) {
      const key = phoneClass(lead.phone)
      byPhone.set(key, (byPhone.get(key) ?? new Set()).add(lead.id))
    }
    for (const phone of lead.contacts?.phones ?? []) {
      const key = phoneClass(phone)
      byContact.set(key, (byContact.get(key) ?? new Set()).add(lead.id))
    }
  }
  for (const lead of leads) put(lead)

  const oldest = (ids: Iterable<string>): Lead | undefined =>
    [...ids]
      .flatMap((id) => byId.get(id) ?? [])
      .sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime() || (a.id < b.id ? -1 : 1))[0]

  return {
    put,
    find: (by, value) => {
      if (by === 'id') return byId.get(value)
      if (by === 'phone') {
        const key = phoneClass(value)
        return oldest(byPhone.get(key) ?? []) ?? oldest(byContact.get(key) ?? [])
      }
      return byId.get(byName[by].get(value) ?? '')
    },
  }
}

/**
 * Plan of a batch of upserts, computed and encrypted while the previous batch is being written. It assumes that none of
 * the leads exists and that all assignees are members. The assumption is checked under the locks; if it is wrong, the
 * plan is discarded.
 */
export interface PrefetchedPlan {
  outcomes: readonly UpsertOutcome[]
  /** Encrypted values of created leads, by lead id. */
  encrypted: ReadonlyMap<string, EncryptedFields>
  /** Keyring used for encryption; after a key rotation the leads are encrypted again. */
  keyring: Keyring
}

/** Plans a batch with `continueOnError`. Null if an item changes the lead of another, which would encrypt it twice. */
export function prefetchPlan(
  keyring: Keyring,
  items: readonly (UpsertItem | ApiError)[],
  now: Date,
): PrefetchedPlan | null {
  const context = { now, continueOnError: true, quotaLeft: Number.POSITIVE_INFINITY, nonMembers: noUsers }
  const outcomes = planUpserts(items, [], context)
  if (outcomes.some(({ action }) => action === 'updated')) return null
  const created = outcomes.flatMap((outcome) => (outcome.action === 'created' ? outcome.lead : []))
  return { outcomes, encrypted: new Map(created.map((lead) => [lead.id, encryptFields(keyring, lead)])), keyring }
}

const noUsers: ReadonlySet<string> = new Set()

/** Returns the outcomes with the current time as creation time, or null if the keyring changed. */
export function refreshPlan(prefetched: PrefetchedPlan | null | undefined, keyring: Keyring, now: Date) {
  if (prefetched?.keyring !== keyring) return null
  const outcomes = prefetched.outcomes.map((outcome) =>
    outcome.action === 'created' ? { ...outcome, lead: { ...outcome.lead, createdAt: now, updatedAt: now } } : outcome,
  )
  return { outcomes, encrypted: prefetched.encrypted }
}
