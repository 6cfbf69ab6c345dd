import { batch } from '../../base/async/batch.ts'
import { isRolledBack, type Sql, type Tx } from '../../base/db.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { type ApiError, InvalidInput, type Issue } from '../../base/errors.ts'
import { newId } from '../../base/id.ts'
import { type EventAuthor, insertEvents, recordEvents, recordedTopic } from '../../events/record.ts'
import { findNonMembers } from '../../workspaces/workspace.ts'
import { newLead } from '../lead/change.ts'
import { leadCreated } from '../lead/events.ts'
import { guessing } from '../lead/identify.ts'
import type { LeadPatch } from '../lead/input.ts'
import type { Lead, LeadDeps, LeadUser } from '../lead/lead.ts'
import { assigneeIssue, quotaReached, takenField, valueTaken } from '../lead/lead.ts'
import { takeFromSlot, takeQuota } from '../lead/quota.ts'
import { insertLeads, insertRows } from '../lead/write.ts'

/** Lead to create, and its author. */
interface NewlyMade {
  lead: Lead
  by: EventAuthor
}

const created = ({ lead, by }: NewlyMade) => leadCreated(lead, by)

export type CreateLead = (user: LeadUser, patch: LeadPatch, foundIssues: readonly Issue[]) => Promise<Lead>

/**
 * Returns a function that creates leads within the day's quota; concurrent creations in a workspace share one
 * statement. It throws 409 if externalRef or uniqueCode is taken, and 429 if the quota is used up.
 */
export function leadCreator(deps: LeadDeps): CreateLead {
  const create = batch<NewlyMade, ApiError | null>({
    groups: 2,
    groupSize: 50,
    work: (workspaceId, made) => createTogether(deps, workspaceId, made),
    isRolledBack,
  })
  return async (user, patch, foundIssues) => {
    const lead = readyLead(patch, foundIssues, deps.clock.now())
    return guessing(user, { patch }, async (budget) => {
      const refusal = await refusingTaken(create(user.workspaceId, { lead, by: user }))
      if (refusal !== null) throw refusal
      // A lookup of the number would now show whether it existed before, so this counts as one.
      if (patch.namesNumber === true) budget.note()
      return lead
    })
  }
}

/** Creates one lead. `claim` runs first in the transaction; if it throws, no lead is created and no quota used. */
export async function createClaimedLead(
  deps: LeadDeps,
  user: LeadUser,
  patch: LeadPatch,
  foundIssues: readonly Issue[],
  claim: (tx: Tx, lead: Lead) => Promise<void>,
): Promise<Lead> {
  const { workspaceId } = user
  const now = deps.clock.now()
  const lead = readyLead(patch, foundIssues, now)
  const keyring = await deps.keyStore.keyring(workspaceId)
  const creation = deps.db.tx(async (tx) => {
    await claim(tx, lead)
    const [refusal = null] = await createInSteps(tx, keyring, workspaceId, [{ lead, by: user }], now)
    if (refusal !== null) throw refusal
  })
  await refusingTaken(creation)
  return lead
}

function readyLead(patch: LeadPatch, foundIssues: readonly Issue[], now: Date): Lead {
  const { lead, issues } = newLead(patch, newId(now), '', now)
  // An invalid first name is not also reported as missing.
  const problems = [...foundIssues, ...issues.filter((issue) => !foundIssues.some((f) => f.path === issue.path))]
  if (problems.length > 0) throw new InvalidInput(problems)
  return lead
}

async function refusingTaken<T>(creation: Promise<T>): Promise<T> {
  try {
    return await creation
  } catch (error) {
    const taken = takenField(error)
    throw taken === null ? error : valueTaken(taken, error)
  }
}

/** Returns an error per lead, null for leads that were created. */
async function createTogether(
  { db, keyStore, clock }: LeadDeps,
  workspaceId: string,
  made: readonly NewlyMade[],
): Promise<(ApiError | null)[]> {
  const now = clock.now()
  const keyring = await keyStore.keyring(workspaceId)
  if (made.every(({ lead }) => lead.assignedTo === null)) {
    const news = { topic: recordedTopic, id: workspaceId }
    const proven = { isThere: (sql: Sql) => isThere(sql, workspaceId, made), answer: true }
    const isDone = await db.statement((tx) => createAtOnce(tx, keyring, workspaceId, made, now), news, proven)
    if (isDone) return made.map(() => null)
  }
  return db.tx((tx) => createInSteps(tx, keyring, workspaceId, made, now))
}

/** Creates leads in one statement, the common case. Returns false, without changes, if no quota slot has enough. */
async function createAtOnce(
  tx: Tx,
  keyring: Keyring,
  workspaceId: string,
  made: readonly NewlyMade[],
  now: Date,
): Promise<boolean> {
  const leads = made.map(({ lead }) => lead)
  const granted = tx`exists (select from quota)`
  const [answer] = await tx<{ granted: boolean }[]>`
    with quota as (${takeFromSlot(tx, workspaceId, now, leads.length)}),
    lead as (${insertRows(tx, keyring, workspaceId, leads, granted)}),
    event as (${insertEvents(tx, keyring, workspaceId, made.map(created), now, granted)})
    select ${granted} as granted`
  return answer?.granted ?? false
}

/** Checks one lead: either all were created or none. */
async function isThere(sql: Sql, workspaceId: string, made: readonly NewlyMade[]): Promise<boolean> {
  const rows = await sql`
    select
    from leads
    where workspace_id = ${workspaceId}
      and id = ${made[0]?.lead.id ?? ''}`
  return rows.length > 0
}

async function createInSteps(
  tx: Tx,
  keyring: Keyring,
  workspaceId: string,
  made: readonly NewlyMade[],
  now: Date,
): Promise<(ApiError | null)[]> {
  const assignees = new Set(made.flatMap(({ lead }) => lead.assignedTo ?? []))
  const nonMembers = new Set(await findNonMembers(tx, workspaceId, [...assignees]))
  const isKnown = ({ lead: { assignedTo } }: NewlyMade) => assignedTo === null || !nonMembers.has(assignedTo)
  const wanted = made.filter(isKnown)
  const granted = wanted.length === 0 ? 0 : await takeQuota(tx, workspaceId, now, wanted.length)
  const taken = wanted.slice(0, granted)
  await Promise.all([
    insertLeads(
      tx,
      keyring,
      workspaceId,
      taken.map(({ lead }) => lead),
    ),
    recordEvents(tx, keyring, workspaceId, taken.map(created), now),
  ])
  return made.map((one) => {
    if (!isKnown(one)) return new InvalidInput([assigneeIssue('')])
    return taken.includes(one) ? null : quotaReached(now)
  })
}
