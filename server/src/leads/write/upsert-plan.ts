import { type LookupBudget, unlimited } from '../../auth/rate-limit/lookup-limit.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { ApiError, InvalidInput, type Issue } from '../../base/errors.ts'
import { newId } from '../../base/id.ts'
import { phoneClass } from '../../base/phone/phone-variants.ts'
import { applyPatch, newLead } from '../lead/change.ts'
import { type LeadSeals, makeSeals } from '../lead/encrypted-lead.ts'
import { isWrongGuess } from '../lead/identify.ts'
import type { LeadPatch, MatchBy, UpsertItem } from '../lead/input.ts'
import { assigneeIssue, type Lead, leadMissing, quotaReached, type UniqueField, valueTaken } from '../lead/lead.ts'

export type UpsertOutcome =
  | { action: 'created'; lead: Lead }
  | { action: 'updated'; lead: Lead; before: Lead }
  | { action: 'failed'; error: ApiError }

interface PlanContext {
  now: Date
  continueOnError: boolean
  stopAtQuota?: boolean
  /** How many leads may still be created. */
  quotaLeft: number
  /** Users named in `assignedTo` who are not members. */
  nonMembers: ReadonlySet<string>
  /** Of a masked caller: what it may still name of numbers that are not there. */
  guesses?: LookupBudget
}

/**
 * What each item does, in order, each seeing those before it. Pure: the leads that any item names must be given, and
 * the caller holds the locks that keep them so.
 */
export function planUpserts(
  items: readonly (UpsertItem | ApiError)[],
  leads: readonly Lead[],
  context: PlanContext,
): UpsertOutcome[] {
  const set = workingSet(leads)
  const outcomes: UpsertOutcome[] = []
  let { quotaLeft } = context
  const { guesses = unlimited } = context
  let guessesLeft = guesses.left()

  const run = (item: UpsertItem | ApiError): UpsertOutcome => {
    if (item instanceof ApiError) return { action: 'failed', error: item }
    const { by, value, storedDigits } = item
    const before = (storedDigits && set.find('phone', storedDigits)) || set.find(by, value)
    if (guessesLeft === 0 && item.namesNumber) return { action: 'failed', error: guesses.refusal() }
    if (before === undefined && !item.createIfMissing) return { action: 'failed', error: leadMissing() }
    const { lead, issues } =
      before === undefined
        ? newLead(withMatchedField(item), newId(context.now), item.at, context.now)
        : applyPatch(before, item.patch, item.at, context.now)
    const error =
      problemOf([...issues, ...nonMemberIssues(item, before, context.nonMembers)]) ??
      takenBy(lead) ??
      (before === undefined && quotaLeft === 0 ? quotaReached(context.now) : null)
    if (error !== null) return { action: 'failed', error }
    set.put(lead)
    if (before !== undefined) return { action: 'updated', lead, before }
    quotaLeft--
    return { action: 'created', lead }
  }

  const takenBy = (lead: Lead): ApiError | null => {
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
    if (guesses !== unlimited && isWrongUpsert(item, outcome)) guessesLeft--
    if (outcome.action === 'failed' && (!context.continueOnError || stopsAt(outcome.error))) break
  }
  return outcomes
}

/** Whether an upsert of a masked caller shows that a number was not there. */
export function isWrongUpsert(item: UpsertItem | ApiError, outcome: UpsertOutcome): boolean {
  if (item instanceof ApiError) return false
  const { namesNumber = false } = item
  if (outcome.action === 'failed') return namesNumber && outcome.error.data?.code !== 'RATE_LIMITED'
  return outcome.action === 'created' ? namesNumber : isWrongGuess(item.patch, outcome.before, outcome.lead)
}

// What a lead was looked up by, it also has once created, unless the item says otherwise.
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

/** The leads that a batch touches, as they stand after each of its items. */
interface WorkingSet {
  /** The lead that goes by this value; of several with one phone, the oldest, and before those that have several. */
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
