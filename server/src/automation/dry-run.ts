import { readContacts } from '../inbox/read/names.ts'
import type { SendDeps } from '../inbox/send/send-deps.ts'
import { readSituations } from './facts.ts'
import { findWaits } from './find-overdue.ts'
import { compileRule, type Rule, readsLead, unmetConditions } from './judge.ts'
import { isOfFeed, readNewestActivities, readNewestOfFeed, type WorkspaceReader } from './occurrences.ts'
import { isWait, type RuleDraft } from './rule-schema.ts'

export const maxTried = 100

export interface TriedEvent {
  at: Date
  conversationId: string | null
  leadId: string | null
  /** The customer, as the team sees them. */
  name: string | null
  /** Conditions that do not hold now. */
  unmet: number[]
  /** Whether a rule caused it, and the rule leaves such events alone. */
  isOfRule: boolean
}

/**
 * Judges a rule, saved or not, by the newest 100 events that can start it, or the waits that would start it now. What
 * can change is compared as it is now. Changes nothing.
 */
export async function tryRule(deps: SendDeps, workspaceId: string, draft: RuleDraft): Promise<TriedEvent[]> {
  const now = deps.clock.now()
  const ever = new Date(0)
  const rule: Rule = {
    ...draft,
    ...{ id: nobody, enabled: true, version: 1, enabledAt: ever, createdAt: ever, updatedAt: ever },
  }
  const compiled = compileRule(rule)
  const situations = await deps.keyStore.withKeyring(workspaceId, async (keyring) => {
    const reader = { sql: deps.db.sql, keyring, workspaceId }
    const found = await readOccurrences(reader, rule, now)
    return readSituations(reader, found.slice(0, maxTried), { readsLead: readsLead(compiled), now })
  })
  const names = await readContacts(
    deps,
    workspaceId,
    situations.flatMap(({ conversation }) => conversation?.id ?? []),
  )
  return situations.map(({ occurrence, conversation, lead, facts, causedBy }) => ({
    at: occurrence.at,
    conversationId: conversation?.id ?? null,
    leadId: occurrence.leadId,
    name: names.get(conversation?.id ?? '')?.name ?? nameOf(lead),
    unmet: unmetConditions(compiled, facts),
    isOfRule: causedBy !== null && !draft.followsRules,
  }))
}

/** No rule has this id, so that none has acted. */
const nobody = '00000000-0000-0000-0000-000000000000'

const nameOf = (lead: { firstName: string; lastName: string | null } | null): string | null =>
  lead === null ? null : [lead.firstName, lead.lastName].filter(Boolean).join(' ')

function readOccurrences(reader: WorkspaceReader, rule: Rule, now: Date) {
  const { trigger } = rule
  if (isWait(trigger)) {
    const weekAgo = new Date(now.getTime() - 7 * 86_400_000)
    return findWaits(reader, rule, { timersAt: weekAgo, now })
  }
  return isOfFeed(trigger)
    ? readNewestOfFeed(reader, trigger, maxTried)
    : readNewestActivities(reader, trigger, maxTried)
}
