import type { Tx } from '../base/db.ts'
import { InvalidInput, type Issue } from '../base/errors.ts'
import { newId } from '../base/id.ts'
import { recordEvents } from '../events/record.ts'
import { newLead } from './change.ts'
import { assigneeIssue, quotaReached, takenField, valueTaken } from './errors.ts'
import { leadCreated } from './events.ts'
import type { LeadPatch } from './input.ts'
import type { Lead, LeadDeps, LeadUser } from './lead.ts'
import { findStrangers } from './queries.ts'
import { takeQuota } from './quota.ts'
import { insertLeads } from './write.ts'

/**
 * Creates a lead under the day's quota. Refuses a taken externalRef or uniqueCode with 409, a used-up quota with 429.
 * `claim` comes first in the lead's transaction: when it throws, there is no lead and no quota is used.
 */
export async function createLead(
  deps: LeadDeps,
  user: LeadUser,
  patch: LeadPatch,
  foundIssues: readonly Issue[],
  claim: (tx: Tx, lead: Lead) => Promise<void> = async () => {},
): Promise<Lead> {
  const now = deps.clock.now()
  const { lead, issues } = newLead(patch, newId(now), '', now)
  // A first name that was refused is not also missing.
  const problems = [...foundIssues, ...issues.filter((issue) => !foundIssues.some((f) => f.path === issue.path))]
  if (problems.length > 0) throw new InvalidInput(problems)
  const keyring = await deps.vault.keyring(user.workspaceId)
  try {
    await deps.db.tx(async (tx) => {
      await claim(tx, lead)
      const assignees = lead.assignedTo === null ? [] : [lead.assignedTo]
      const strangers = await findStrangers(tx, user.workspaceId, assignees)
      if (strangers.length > 0) throw new InvalidInput([assigneeIssue('')])
      if ((await takeQuota(tx, user.workspaceId, now, 1)) === 0) throw quotaReached(now)
      await Promise.all([
        insertLeads(tx, keyring, user.workspaceId, [lead]),
        recordEvents(tx, keyring, user.workspaceId, [leadCreated(lead)], now),
      ])
    })
  } catch (error) {
    const taken = takenField(error)
    throw taken === null ? error : valueTaken(taken, error)
  }
  return lead
}
