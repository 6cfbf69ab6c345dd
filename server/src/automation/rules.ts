import type { Clock } from '../base/clock.ts'
import { type Db, publish, type Sql, type Tx } from '../base/db.ts'
import { conflict, invalid, notFound } from '../base/errors.ts'
import { newId } from '../base/id.ts'
import type { Sequencer } from '../events/sequence.ts'
import { recordAudit } from '../team/audit.ts'
import type { Member } from '../team/member.ts'
import { lockWorkspace } from '../workspaces/workspace.ts'
import type { Rule } from './judge.ts'
import { limits, type RuleChange, type RuleDraft } from './rule-schema.ts'
import { validateRule } from './validate-rule.ts'

export interface RuleDeps {
  db: Db
  clock: Clock
  sequencer: Sequencer
  /** Rules that a workspace may have on at a time. */
  maxEnabled: number
}

/** Published when rules have changed or runs are due; the id is the workspace. */
export const automationTopic = 'automation'

const ruleNotFound = () => notFound('Automation rule not found')

/** Returns all rules in order, or those with these ids. */
export async function listRules(sql: Sql, workspaceId: string, ids: readonly string[] | null = null): Promise<Rule[]> {
  return sql<Rule[]>`
    select id, name, enabled, trigger, after_minutes as "afterMinutes", conditions, actions, stops,
      follows_rules as "followsRules", version, enabled_at as "enabledAt", created_at as "createdAt",
      updated_at as "updatedAt"
    from automation_rules
    where workspace_id = ${workspaceId}
      ${ids === null ? sql`` : sql`and id = any (${[...ids]}::uuid[])`}
    order by position, id`
}

/** Throws 404. */
export async function checkRule(sql: Sql, workspaceId: string, id: string): Promise<void> {
  const found = await sql`
    select id
    from automation_rules
    where workspace_id = ${workspaceId}
      and id = ${id}`
  if (found.length === 0) throw ruleNotFound()
}

/** Adds a rule at the end of the list, switched off. Throws 400 for what it names and does not exist, 409 if full. */
export async function createRule(deps: RuleDeps, by: Member, draft: RuleDraft): Promise<string> {
  const { db, clock } = deps
  await validateRule(db.sql, by.workspaceId, draft)
  const now = clock.now()
  const id = newId(now)
  await changeRules(deps, by, `rule:${id}`, 'created', async (tx) => {
    const rules = await listRules(tx, by.workspaceId)
    if (rules.length >= limits.rules) {
      throw conflict(`A workspace has at most ${limits.rules} rules. Delete one that is no longer needed.`)
    }
    await tx`
      insert into automation_rules (
        workspace_id, id, name, position, enabled, trigger, after_minutes, conditions, actions, stops, follows_rules,
        version, created_at, updated_at
      )
      values (
        ${by.workspaceId}, ${id}, ${draft.name}, ${rules.length}, false, ${draft.trigger}, ${draft.afterMinutes},
        ${tx.json(draft.conditions)}::jsonb, ${tx.json(draft.actions)}::jsonb, ${draft.stops}, ${draft.followsRules}, 1, ${now}, ${now}
      )`
  })
  return id
}

/**
 * Changes a rule. What waits for its actions is left out if they or its conditions changed, or it is switched off.
 * Throws 404, 400, and 409 if as many rules are on as may be.
 */
export async function changeRule(deps: RuleDeps, by: Member, id: string, change: RuleChange): Promise<void> {
  const { workspaceId } = by
  const now = deps.clock.now()
  const { enabled: _, ...draft } = change
  if (Object.keys(draft).length > 0) {
    const [before] = (await listRules(deps.db.sql, workspaceId)).filter((rule) => rule.id === id)
    if (before === undefined) throw ruleNotFound()
    await validateRule(deps.db.sql, workspaceId, { ...before, ...draft })
  }
  await changeRules(deps, by, `rule:${id}`, changeName(change), async (tx) => {
    const rules = await listRules(tx, workspaceId)
    const before = rules.find((rule) => rule.id === id)
    if (before === undefined) throw ruleNotFound()
    const after = { ...before, ...change }
    const isSwitchedOn = after.enabled && !before.enabled
    if (isSwitchedOn && rules.filter(({ enabled }) => enabled).length >= deps.maxEnabled) {
      throw conflict(`At most ${deps.maxEnabled} rules can be on. Switch one off first.`, { field: 'enabled' })
    }
    const doesSame = isSame(before, after)
    await tx`
      update automation_rules
      set name = ${after.name},
        enabled = ${after.enabled},
        trigger = ${after.trigger},
        after_minutes = ${after.afterMinutes},
        conditions = ${tx.json(after.conditions)}::jsonb,
        actions = ${tx.json(after.actions)}::jsonb,
        stops = ${after.stops},
        follows_rules = ${after.followsRules},
        version = version + ${doesSame ? 0 : 1},
        enabled_at = ${after.enabled ? (isSwitchedOn || !doesSame ? now : before.enabledAt) : null},
        updated_at = ${now}
      where workspace_id = ${workspaceId}
        and id = ${id}`
  })
}

function changeName({ enabled, ...draft }: RuleChange): string {
  if (enabled === undefined || Object.keys(draft).length > 0) return 'changed'
  return enabled ? 'enabled' : 'disabled'
}

const isSame = (a: RuleDraft, b: RuleDraft): boolean => behaviorOf(a) === behaviorOf(b)
const behaviorOf = ({ trigger, afterMinutes, conditions, actions }: RuleDraft): string =>
  JSON.stringify([trigger, afterMinutes, conditions, actions], sortedKeys)

/** The database orders the keys of objects by itself. */
const sortedKeys = (_key: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value

/** Deletes a rule; what it has done stays in the conversations. Throws 404. */
export function deleteRule(deps: RuleDeps, by: Member, id: string): Promise<void> {
  return changeRules(deps, by, `rule:${id}`, 'deleted', async (tx) => {
    const deleted = await tx`
      delete from automation_rules
      where workspace_id = ${by.workspaceId}
        and id = ${id}`
    if (deleted.count === 0) throw ruleNotFound()
  })
}

/** Sets the order of all rules. Throws 400 unless each is named once, as when someone else has just added one. */
export function orderRules(deps: RuleDeps, by: Member, ids: readonly string[]): Promise<void> {
  return changeRules(deps, by, null, 'ordered', async (tx) => {
    const known = new Set((await listRules(tx, by.workspaceId)).map(({ id }) => id))
    if (new Set(ids).size !== known.size || ids.length !== known.size || ids.some((id) => !known.has(id))) {
      throw invalid('ids', 'must be the ids of all rules; reload the list')
    }
    await tx`
      update automation_rules r
      set position = n.place
      from unnest(${[...ids]}::uuid[]) with ordinality as n (id, place)
      where r.workspace_id = ${by.workspaceId}
        and r.id = n.id`
  })
}

/**
 * Runs a change of the list under the workspace's lock, records it in the audit log, and makes every process read the
 * rules again. While no rule is on, events are not read: the first to be switched on starts at the end of the feed.
 */
async function changeRules(
  { db, clock, sequencer }: RuleDeps,
  by: Member,
  target: string | null,
  what: string,
  work: (tx: Tx) => Promise<void>,
): Promise<void> {
  const { workspaceId, actor } = by
  const now = clock.now()
  // What was committed before gets a position before the rules'.
  await sequencer.sequence(workspaceId)
  await db.tx(async (tx) => {
    await lockWorkspace(tx, workspaceId)
    await work(tx)
    await tx`
      insert into automation_queues as q (workspace_id, active, position, activities_at, timers_at)
      select ${workspaceId}::uuid, s.active, coalesce(f.last_position, 0), ${now}::timestamptz, ${now}::timestamptz
      from (
        select exists (
          select 1
          from automation_rules
          where workspace_id = ${workspaceId}
            and enabled
        ) as active
      ) as s
      left join event_feeds f on f.workspace_id = ${workspaceId}
      on conflict (workspace_id) do update
      set rules_version = q.rules_version + 1,
        active = excluded.active,
        position = case when q.active then q.position else excluded.position end,
        activities_at = case when q.active then q.activities_at else excluded.activities_at end,
        timers_at = case when q.active then q.timers_at else excluded.timers_at end`
    const audited = { scopeId: workspaceId, actor, action: `automation.${what}`, target: target?.toLowerCase() ?? null }
    await recordAudit(tx, audited, now)
    publish(tx, automationTopic, workspaceId)
  })
}
