import { createHash } from 'node:crypto'
import type { LookupBudget } from '../../auth/rate-limit/lookup-limit.ts'
import { batch } from '../../base/async/batch.ts'
import { isRolledBack, pipelineCommit, type Tx } from '../../base/db.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import type { ApiError } from '../../base/errors.ts'
import { isUuid } from '../../base/id.ts'
import { phoneClass } from '../../base/phone/phone-variants.ts'
import { outsideTransaction } from '../../base/scheduling/work-context.ts'
import { carryOptOuts } from '../../consents/store.ts'
import { recordEvents } from '../../events/record.ts'
import { findNonMembers } from '../../workspaces/workspace.ts'
import { decryptLead, type EncryptedFields, phoneIndexes } from '../lead/encrypted-lead.ts'
import { leadCreated, leadUpdated } from '../lead/events.ts'
import { recordStatusChanges } from '../lead/history.ts'
import type { UpsertItem } from '../lead/input.ts'
import type { Lead, LeadDeps, LeadTx, LeadUser, UniqueField } from '../lead/lead.ts'
import { type LeadNames, lockLeadsByNames } from '../lead/queries.ts'
import { quotaLeft, readQuota, reserveQuota } from '../lead/quota.ts'
import { insertLeads, releaseNames, retryWhileTaken, updateLeads } from '../lead/write.ts'
import type { PrefetchedPlan, UpsertOutcome } from './upsert-plan.ts'
import { planUpserts, refreshPlan, upsertRevealsMissingNumber } from './upsert-plan.ts'

export interface UpsertOptions {
  continueOnError: boolean
  /** Computes the outcomes without writing. */
  dryRun: boolean
  /** Stops at the item that exceeds the day's quota, which is the last outcome; callers can continue with it later. */
  stopAtQuota?: boolean
  /** Plan computed ahead; used if none of its leads exists yet. */
  prefetched?: PrefetchedPlan | null
  /** Work to do while the database writes; not awaited. It must not throw. */
  whileWriting?: () => void
  /** Lookup budget of a masked caller; set by `upsertLeads`. */
  lookupBudget?: LookupBudget
  /** Further work in the same transaction, after the outcomes are known. */
  inTransaction?: (tx: Tx, outcomes: UpsertOutcome[]) => Promise<void>
}

export type LeadUpserter = (user: LeadUser, item: UpsertItem) => Promise<UpsertOutcome>

/** Returns a function that upserts single items; concurrent items of one caller share a transaction. */
export function makeLeadUpserter(deps: LeadDeps): LeadUpserter {
  const upsert = batch<{ user: LeadUser; item: UpsertItem }, UpsertOutcome>({
    maxGroups: 2,
    maxGroupSize: 50,
    work: async (_caller, requests) => {
      const items = requests.map(({ item }) => item)
      const [user] = requests.map((one) => one.user)
      return user === undefined ? [] : upsertLeads(deps, user, items, { continueOnError: true, dryRun: false })
    },
    isRolledBack,
  })
  return (user, item) => upsert(`${user.workspaceId} ${user.actor.id}`, { user, item })
}

/**
 * Upserts items in order, each seeing the changes of earlier ones, in one transaction of a few set-based statements.
 * Items with the same matcher are serialized across all callers. A failed item is an outcome, not an exception.
 */
export async function upsertLeads(
  deps: LeadDeps,
  user: LeadUser,
  items: readonly (UpsertItem | ApiError)[],
  options: UpsertOptions,
): Promise<UpsertOutcome[]> {
  if (user.lookupLimit === undefined) return upsertBatch(deps, user, items, options)
  return user.lookupLimit.spend(async (lookupBudget) => {
    const outcomes = await upsertBatch(deps, user, items, { ...options, lookupBudget })
    for (const [n, outcome] of outcomes.entries()) {
      const item = items[n]
      if (item !== undefined && upsertRevealsMissingNumber(item, outcome)) lookupBudget.recordMiss()
    }
    return outcomes
  })
}

async function upsertBatch(
  deps: LeadDeps,
  user: LeadUser,
  items: readonly (UpsertItem | ApiError)[],
  options: UpsertOptions,
): Promise<UpsertOutcome[]> {
  const keyring = await deps.keyStore.keyring(user.workspaceId)
  return retryWhileTaken(() =>
    deps.db.tx(async (tx) => {
      const outcomes = await upsertInTransaction({ tx, keyring, user, now: deps.clock.now() }, items, options)
      await options.inTransaction?.(tx, outcomes)
      return outcomes
    }),
  )
}

async function upsertInTransaction(work: LeadTx, items: readonly (UpsertItem | ApiError)[], options: UpsertOptions) {
  const { tx, keyring, now } = work
  const { workspaceId } = work.user
  const valid = items.filter((item): item is UpsertItem => !(item instanceof Error))
  const assignees = [...new Set(valid.flatMap((item) => item.patch.fields.assignedTo ?? []))]
  const [, rows, nonMembers] = await Promise.all([
    options.dryRun ? [] : lockMatchers(tx, workspaceId, valid),
    lockLeadsByNames(tx, workspaceId, collectNames(keyring, valid)),
    findNonMembers(tx, workspaceId, assignees),
  ])
  const leads = rows.map((row) => decryptLead(keyring, row))
  const plan = (quota: number) =>
    planUpserts(items, leads, { ...options, now, quotaLeft: quota, nonMembers: new Set(nonMembers) })

  if (options.dryRun) {
    // A run that stops at the quota continues with the next day's quota, so in the end it creates all leads.
    return plan(options.stopAtQuota ? Number.POSITIVE_INFINITY : quotaLeft(await readQuota(tx, workspaceId, now)))
  }
  const prefetched = leads.length + nonMembers.length === 0 ? refreshPlan(options.prefetched, keyring, now) : null
  let outcomes = prefetched?.outcomes ?? plan(Number.POSITIVE_INFINITY)
  const createdCount = outcomes.filter((outcome) => outcome.action === 'created').length
  if (createdCount > 0) {
    const granted = await reserveQuota(tx, workspaceId, now, createdCount)
    if (granted < createdCount) outcomes = plan(granted)
  }
  const phoneChanges = outcomes.flatMap((outcome) =>
    outcome.action === 'updated' ? [{ from: outcome.before.phone, to: outcome.lead.phone }] : [],
  )
  await carryOptOuts({ tx, keyring, workspaceId, now }, phoneChanges)
  const writeAll = () => writeOutcomes(work, leads, outcomes, prefetched?.encrypted)
  const written = options.inTransaction === undefined ? pipelineCommit(tx, writeAll) : writeAll()
  if (options.whileWriting !== undefined) outsideTransaction(options.whileWriting)
  await written
  return outcomes
}

// Sorted, so that two batches cannot deadlock.
async function lockMatchers(tx: Tx, workspaceId: string, items: readonly Matcher[]): Promise<void> {
  const keys = new Set(items.flatMap((item) => matchValues(item).map((value) => lockKey(workspaceId, item.by, value))))
  const sorted = [...keys].sort((a, b) => (a < b ? -1 : 1)).map(String)
  await tx`select pg_advisory_xact_lock(key) from unnest(${sorted}::bigint[]) as k (key)`.execute()
}

/** Blocks upserts by these phones until the transaction ends. */
export function lockPhones(tx: Tx, workspaceId: string, phones: readonly string[]): Promise<void> {
  const matchers = phones.map((value) => ({ by: 'phone', value }) as const)
  return lockMatchers(tx, workspaceId, matchers)
}

type Matcher = Pick<UpsertItem, 'by' | 'value' | 'storedDigits'>

function lockKey(workspaceId: string, by: UpsertItem['by'], value: string): bigint {
  const name = by === 'phone' ? phoneClass(value) : value
  return createHash('sha256').update(`lead ${workspaceId} ${by} ${name}`).digest().readBigInt64BE(0)
}

function matchValues({ value, storedDigits }: Matcher): string[] {
  return storedDigits === undefined ? [value] : [storedDigits, value]
}

function collectNames(keyring: Keyring, items: readonly UpsertItem[]): LeadNames {
  const matched = (by: UpsertItem['by']) => items.filter((item) => item.by === by).flatMap(matchValues)
  const named = (field: 'uniqueCode' | 'externalRef') => items.flatMap((item) => item.patch.fields[field] ?? [])
  return {
    ids: matched('id').filter(isUuid),
    uniqueCodes: [...matched('uniqueCode'), ...named('uniqueCode')],
    externalRefs: [...matched('externalRef'), ...named('externalRef')],
    phoneIndexes: matched('phone').flatMap((digits) => phoneIndexes(keyring, digits)),
  }
}

/** Writes the outcomes: each lead once, in its final state; an event and a history entry per item. */
export async function writeOutcomes(
  { tx, keyring, user, now }: LeadTx,
  before: readonly Lead[],
  outcomes: readonly UpsertOutcome[],
  encrypted?: ReadonlyMap<string, EncryptedFields>,
): Promise<void> {
  const done = outcomes.flatMap((outcome) => (outcome.action === 'failed' || isUnchanged(outcome) ? [] : [outcome]))
  if (done.length === 0) return
  const stored = new Map(before.map((lead) => [lead.id, lead]))
  const last = [...new Map(done.map(({ lead }) => [lead.id, lead])).values()]
  const created = last.filter((lead) => !stored.has(lead.id))
  const updated = last.filter((lead) => stored.has(lead.id))
  const events = done.map((outcome) =>
    outcome.action === 'created' ? leadCreated(outcome.lead, user) : leadUpdated(outcome.lead, outcome.before, user),
  )
  const changes = done.filter((outcome) => outcome.action === 'updated')
  // Sent together and executed in this order: names are released before they are reused, and leads inserted before
  // their history. Each function calls `execute` to start its statement, since awaiting alone would send it later.
  await Promise.all([
    releaseNames(tx, user.workspaceId, leadsLosingNames(updated, stored)),
    updateLeads(tx, keyring, user.workspaceId, updated),
    insertLeads(tx, keyring, user.workspaceId, created, encrypted),
    recordStatusChanges({ tx, user, now }, changes),
    recordEvents(tx, keyring, user.workspaceId, events, now),
  ])
}

function isUnchanged(outcome: UpsertOutcome): boolean {
  return outcome.action === 'updated' && outcome.before === outcome.lead
}

/** Returns leads whose old name another lead of the batch gets: one update statement would violate the unique index. */
function leadsLosingNames(updated: readonly Lead[], stored: ReadonlyMap<string, Lead>): string[] {
  const losing = (field: UniqueField) => {
    const taken = new Map(updated.map((lead) => [lead[field], lead.id]))
    return updated.filter((lead) => {
      const old = stored.get(lead.id)?.[field] ?? null
      return old !== null && old !== lead[field] && taken.has(old)
    })
  }
  return [...losing('uniqueCode'), ...losing('externalRef')].map((lead) => lead.id)
}
