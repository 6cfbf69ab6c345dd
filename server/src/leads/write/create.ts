import { batch } from '../../base/async/batch.ts'
import { isUndone, type Tx } from '../../base/db.ts'
import { type ApiError, InvalidInput, type Issue } from '../../base/errors.ts'
import { newId } from '../../base/id.ts'
import type { Keyring } from '../../base/sealing/keyring.ts'
import { insertEvents, recordEvents, recordedTopic } from '../../events/record.ts'
import { findNonMembers } from '../../workspace/non-members.ts'
import { newLead } from '../lead/change.ts'
import { assigneeIssue, quotaReached, takenField, valueTaken } from '../lead/errors.ts'
import { leadCreated } from '../lead/events.ts'
import { guessing } from '../lead/guessing.ts'
import type { LeadPatch } from '../lead/input.ts'
import type { Lead, LeadDeps, LeadUser } from '../lead/lead.ts'
import { takeFromSlot, takeQuota } from '../lead/quota.ts'
import { insertLeads, insertRows } from '../lead/write.ts'

export type CreateLead = (user: LeadUser, patch: LeadPatch, foundIssues: readonly Issue[]) => Promise<Lead>

/**
 * Creates leads under the day's quota; those that come while others of their workspace are being written share one
 * statement. Refuses a taken externalRef or uniqueCode with 409, a used-up quota with 429.
 */
export function leadCreator(deps: LeadDeps): CreateLead {
  const create = batch<Lead, ApiError | null>({
    groups: 2,
    groupSize: 50,
    work: (workspaceId, leads) => createTogether(deps, workspaceId, leads),
    isUndone,
  })
  return async (user, patch, foundIssues) => {
    const lead = readyLead(patch, foundIssues, deps.clock.now())
    return guessing(user, { patch }, async (budget) => {
      const refusal = await refusingTaken(create(user.workspaceId, lead))
      if (refusal !== null) throw refusal
      // The number can be looked up now, and who is found tells whether it was there before.
      if (patch.namesNumber === true) budget.note()
      return lead
    })
  }
}

/** Creates one lead; `claim` comes first in its transaction: when it throws, there is no lead and no quota is used. */
export async function createClaimedLead(
  deps: LeadDeps,
  { workspaceId }: LeadUser,
  patch: LeadPatch,
  foundIssues: readonly Issue[],
  claim: (tx: Tx, lead: Lead) => Promise<void>,
): Promise<Lead> {
  const now = deps.clock.now()
  const lead = readyLead(patch, foundIssues, now)
  const keyring = await deps.vault.keyring(workspaceId)
  const creation = deps.db.tx(async (tx) => {
    await claim(tx, lead)
    const [refusal = null] = await createInSteps(tx, keyring, workspaceId, [lead], now)
    if (refusal !== null) throw refusal
  })
  await refusingTaken(creation)
  return lead
}

function readyLead(patch: LeadPatch, foundIssues: readonly Issue[], now: Date): Lead {
  const { lead, issues } = newLead(patch, newId(now), '', now)
  // A first name that was refused is not also missing.
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

/** What keeps each lead from being; null for those that are. */
async function createTogether(
  { db, vault, clock }: LeadDeps,
  workspaceId: string,
  leads: readonly Lead[],
): Promise<(ApiError | null)[]> {
  const now = clock.now()
  const keyring = await vault.keyring(workspaceId)
  if (leads.every((lead) => lead.assignedTo === null)) {
    const news = { topic: recordedTopic, id: workspaceId }
    const isDone = await db.statement((tx) => createAtOnce(tx, keyring, workspaceId, leads, now), news)
    if (isDone) return leads.map(() => null)
  }
  return db.tx((tx) => createInSteps(tx, keyring, workspaceId, leads, now))
}

/** The common case in one statement; false, and nothing done, when the quota's slot had too little. */
async function createAtOnce(
  tx: Tx,
  keyring: Keyring,
  workspaceId: string,
  leads: readonly Lead[],
  now: Date,
): Promise<boolean> {
  const granted = tx`exists (select from quota)`
  const [answer] = await tx<{ granted: boolean }[]>`
    with quota as (${takeFromSlot(tx, workspaceId, now, leads.length)}),
    lead as (${insertRows(tx, keyring, workspaceId, leads, granted)}),
    event as (${insertEvents(tx, keyring, workspaceId, leads.map(leadCreated), now, granted)})
    select ${granted} as granted`
  return answer?.granted ?? false
}

async function createInSteps(
  tx: Tx,
  keyring: Keyring,
  workspaceId: string,
  leads: readonly Lead[],
  now: Date,
): Promise<(ApiError | null)[]> {
  const assignees = new Set(leads.flatMap(({ assignedTo }) => assignedTo ?? []))
  const nonMembers = new Set(await findNonMembers(tx, workspaceId, [...assignees]))
  const isKnown = ({ assignedTo }: Lead) => assignedTo === null || !nonMembers.has(assignedTo)
  const wanted = leads.filter(isKnown)
  const granted = wanted.length === 0 ? 0 : await takeQuota(tx, workspaceId, now, wanted.length)
  const created = wanted.slice(0, granted)
  await Promise.all([
    insertLeads(tx, keyring, workspaceId, created),
    recordEvents(tx, keyring, workspaceId, created.map(leadCreated), now),
  ])
  return leads.map((lead) => {
    if (!isKnown(lead)) return new InvalidInput([assigneeIssue('')])
    return created.includes(lead) ? null : quotaReached(now)
  })
}
