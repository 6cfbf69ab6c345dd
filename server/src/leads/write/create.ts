import { batch } from '../../base/async/batch.ts'
import { isDistributed } from '../../base/citus/distributed-sql.ts'
import { isRolledBack, pipelineCommit, type Sql, type Tx } from '../../base/db.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { type ApiError, InvalidInput, type Issue } from '../../base/errors.ts'
import { newId } from '../../base/id.ts'
import { type EventAuthor, insertEvents, recordEvents, recordedTopic } from '../../events/record.ts'
import { findNonMembers } from '../../workspaces/workspace.ts'
import { newLead } from '../lead/change.ts'
import { leadCreated } from '../lead/events.ts'
import { withLookupLimit } from '../lead/find-lead.ts'
import type { LeadPatch } from '../lead/input.ts'
import { assigneeIssue, type Lead, type LeadDeps, type LeadUser, quotaReached } from '../lead/lead.ts'
import { reserveFromSlot, reserveQuota } from '../lead/quota.ts'
import { insertLeads, leadInsertStatement, retryWhileTaken } from '../lead/write.ts'

/** Lead to create, and its author. */
interface PendingLead {
  lead: Lead
  by: EventAuthor
}

const createdEvent = ({ lead, by }: PendingLead) => leadCreated(lead, by)

export type LeadCreator = (user: LeadUser, patch: LeadPatch, foundIssues: readonly Issue[]) => Promise<Lead>

/**
 * Returns a function that creates leads within the day's quota; concurrent creations in a workspace share one
 * statement. It throws 409 if externalRef or uniqueCode is taken, and 429 if the quota is used up.
 */
export function makeLeadCreator(deps: LeadDeps): LeadCreator {
  const create = batch<PendingLead, ApiError | null>({
    maxGroups: 2,
    maxGroupSize: 50,
    work: (workspaceId, pending) => createBatch(deps, workspaceId, pending),
    isRolledBack,
  })
  return async (user, patch, foundIssues) => {
    const lead = buildLead(patch, foundIssues, deps.clock.now())
    return withLookupLimit(user, { patch }, async (budget) => {
      const refusal = await retryWhileTaken(() => create(user.workspaceId, { lead, by: user }), 1)
      if (refusal !== null) throw refusal
      // A lookup of the number would now show whether it existed before, so this counts as one.
      if (patch.namesNumber === true) budget.recordMiss()
      return lead
    })
  }
}

/**
 * Creates one lead. `claim` runs first in the transaction; if it throws, no lead is created and no quota used. `created`
 * runs last.
 */
export async function createClaimedLead(
  deps: LeadDeps,
  user: LeadUser,
  patch: LeadPatch,
  foundIssues: readonly Issue[],
  claim: (tx: Tx, lead: Lead) => Promise<void>,
  created?: (tx: Tx, lead: Lead) => Promise<void>,
): Promise<Lead> {
  const { workspaceId } = user
  const now = deps.clock.now()
  const lead = buildLead(patch, foundIssues, now)
  const keyring = await deps.keyStore.keyring(workspaceId)
  const create = async (tx: Tx) => {
    await claim(tx, lead)
    const [refusal = null] = await createInSteps(tx, keyring, workspaceId, [{ lead, by: user }], now)
    if (refusal !== null) throw refusal
    await created?.(tx, lead)
  }
  await retryWhileTaken(() => deps.db.tx(create), 1)
  return lead
}

function buildLead(patch: LeadPatch, foundIssues: readonly Issue[], now: Date): Lead {
  const { lead, issues } = newLead(patch, newId(now), '', now)
  // An invalid first name is not also reported as missing.
  const problems = [...foundIssues, ...issues.filter((issue) => !foundIssues.some((f) => f.path === issue.path))]
  if (problems.length > 0) throw new InvalidInput(problems)
  return lead
}

/** Returns an error per lead, null for leads that were created. */
async function createBatch(
  { db, keyStore, clock }: LeadDeps,
  workspaceId: string,
  pending: readonly PendingLead[],
): Promise<(ApiError | null)[]> {
  const now = clock.now()
  const keyring = await keyStore.keyring(workspaceId)
  // Citus executes each part of such a statement by itself, and copies the rows between servers.
  if (!isDistributed(db.sql) && pending.every(({ lead }) => lead.assignedTo === null)) {
    const message = { topic: recordedTopic, id: workspaceId }
    const proof = { isCommitted: (sql: Sql) => leadsExist(sql, workspaceId, pending), answer: true }
    const isDone = await db.statement(
      (tx) => createInOneStatement(tx, keyring, workspaceId, pending, now),
      message,
      proof,
    )
    if (isDone) return pending.map(() => null)
  }
  return db.tx((tx) => createInSteps(tx, keyring, workspaceId, pending, now, (write) => pipelineCommit(tx, write)))
}

/** Creates leads in one statement, the common case. Returns false, without changes, if no quota slot has enough. */
async function createInOneStatement(
  tx: Tx,
  keyring: Keyring,
  workspaceId: string,
  pending: readonly PendingLead[],
  now: Date,
): Promise<boolean> {
  const leads = pending.map(({ lead }) => lead)
  const granted = tx`exists (select 1 from quota)`
  const [answer] = await tx<{ granted: boolean }[]>`
    with quota as (${reserveFromSlot(tx, workspaceId, now, leads.length)}),
    lead as (${leadInsertStatement(tx, keyring, workspaceId, leads, granted)}),
    event as (${insertEvents(tx, keyring, workspaceId, pending.map(createdEvent), now, granted)})
    select ${granted} as granted`
  return answer?.granted ?? false
}

/** Checks one lead: either all were created or none. */
async function leadsExist(sql: Sql, workspaceId: string, pending: readonly PendingLead[]): Promise<boolean> {
  const rows = await sql`
    select
    from leads
    where workspace_id = ${workspaceId}
      and id = ${pending[0]?.lead.id ?? ''}`
  return rows.length > 0
}

async function createInSteps(
  tx: Tx,
  keyring: Keyring,
  workspaceId: string,
  pending: readonly PendingLead[],
  now: Date,
  runLast = (write: () => Promise<unknown>) => write(),
): Promise<(ApiError | null)[]> {
  const assignees = new Set(pending.flatMap(({ lead }) => lead.assignedTo ?? []))
  const nonMembers = new Set(await findNonMembers(tx, workspaceId, [...assignees]))
  const isKnown = ({ lead: { assignedTo } }: PendingLead) => assignedTo === null || !nonMembers.has(assignedTo)
  const eligible = pending.filter(isKnown)
  const granted = eligible.length === 0 ? 0 : await reserveQuota(tx, workspaceId, now, eligible.length)
  const taken = eligible.slice(0, granted)
  const leads = taken.map(({ lead }) => lead)
  await runLast(() =>
    Promise.all([
      insertLeads(tx, keyring, workspaceId, leads),
      recordEvents(tx, keyring, workspaceId, taken.map(createdEvent), now),
    ]),
  )
  return pending.map((one) => {
    if (!isKnown(one)) return new InvalidInput([assigneeIssue('')])
    return taken.includes(one) ? null : quotaReached(now)
  })
}
