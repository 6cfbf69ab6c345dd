import type { Tx } from '../base/db.ts'
import { InvalidInput, type Issue } from '../base/errors.ts'
import { newId } from '../base/id.ts'
import type { Keyring } from '../base/keyring.ts'
import { insertEvents, recordEvents, recordedTopic } from '../events/record.ts'
import { newLead } from './change.ts'
import { assigneeIssue, quotaReached, takenField, valueTaken } from './errors.ts'
import { leadCreated } from './events.ts'
import type { LeadPatch } from './input.ts'
import type { Lead, LeadDeps, LeadUser } from './lead.ts'
import { findStrangers } from './queries.ts'
import { takeFromSlot, takeQuota } from './quota.ts'
import { insertLeads, insertRows, upsertTokens } from './write.ts'

/**
 * Creates a lead under the day's quota. Refuses a taken externalRef or uniqueCode with 409, a used-up quota with 429.
 * `claim` comes first in the lead's transaction: when it throws, there is no lead and no quota is used.
 */
export async function createLead(
  deps: LeadDeps,
  user: LeadUser,
  patch: LeadPatch,
  foundIssues: readonly Issue[],
  claim?: (tx: Tx, lead: Lead) => Promise<void>,
): Promise<Lead> {
  const now = deps.clock.now()
  const { lead, issues } = newLead(patch, newId(now), '', now)
  // A first name that was refused is not also missing.
  const problems = [...foundIssues, ...issues.filter((issue) => !foundIssues.some((f) => f.path === issue.path))]
  if (problems.length > 0) throw new InvalidInput(problems)
  const keyring = await deps.vault.keyring(user.workspaceId)
  try {
    const isPlain = claim === undefined && lead.assignedTo === null
    const news = { topic: recordedTopic, id: user.workspaceId }
    const isDone =
      isPlain && (await deps.db.statement((tx) => createAtOnce(tx, keyring, user.workspaceId, lead, now), news))
    if (!isDone) await deps.db.tx((tx) => createInSteps(tx, keyring, user.workspaceId, lead, now, claim))
  } catch (error) {
    const taken = takenField(error)
    throw taken === null ? error : valueTaken(taken, error)
  }
  return lead
}

/** The common case in one statement; false, and nothing done, when the quota's slot was empty. */
async function createAtOnce(tx: Tx, keyring: Keyring, workspaceId: string, lead: Lead, now: Date): Promise<boolean> {
  const granted = tx`exists (select from quota)`
  const [answer] = await tx<{ granted: boolean }[]>`
    with quota as (${takeFromSlot(tx, workspaceId, now, 1)}),
    lead as (${insertRows(tx, keyring, workspaceId, [lead], granted)}),
    search as (${upsertTokens(tx, keyring, workspaceId, [lead], granted)}),
    event as (${insertEvents(tx, keyring, workspaceId, [leadCreated(lead)], now, granted)})
    select ${granted} as granted`
  return answer?.granted ?? false
}

async function createInSteps(
  tx: Tx,
  keyring: Keyring,
  workspaceId: string,
  lead: Lead,
  now: Date,
  claim: (tx: Tx, lead: Lead) => Promise<void> = async () => {},
): Promise<void> {
  await claim(tx, lead)
  const assignees = lead.assignedTo === null ? [] : [lead.assignedTo]
  const strangers = await findStrangers(tx, workspaceId, assignees)
  if (strangers.length > 0) throw new InvalidInput([assigneeIssue('')])
  if ((await takeQuota(tx, workspaceId, now, 1)) === 0) throw quotaReached(now)
  await Promise.all([
    insertLeads(tx, keyring, workspaceId, [lead]),
    recordEvents(tx, keyring, workspaceId, [leadCreated(lead)], now),
  ])
}
