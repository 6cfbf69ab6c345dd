import type { Clock } from '../../base/clock.ts'
import type { Db, Sql, Tx } from '../../base/db.ts'
import { newId } from '../../base/id.ts'
import { unnested } from '../../base/postgres/rows.ts'
import { type DueWatch, watchDueWork } from '../../base/pubsub.ts'
import { type NewNotification, recordNotifications } from '../../notifications/record-notifications.ts'
import { systemActor } from '../../workspaces/actor.ts'
import { readServiceSettings } from '../../workspaces/service/service-settings.ts'
import { currentColumns, isIdle } from '../conversation/activity-columns.ts'
import { recordActivities } from '../conversation/commit-change.ts'
import {
  type ChangeDeps,
  type ChangeTx,
  type Conversation,
  conversationsTopic,
  firstTime,
  inTransaction,
  publishConversations,
} from '../conversation/conversation.ts'
import type { Goal, GoalClock } from '../conversation/conversation-state.ts'
import { type ConversationRow, decryptConversation, encodeGoal } from '../conversation/encrypted-conversation.ts'
import { conversationColumns } from '../conversation/queries.ts'
import { withGoal } from './goal-state.ts'

interface GoalDeps extends ChangeDeps {
  /** Called for each goal that is recorded as missed. */
  onMissed?(goal: Goal): void
}

/** Conversations per transaction. */
const batchSize = 200
const pollEveryMs = 15_000
/** In a busy inbox every change wakes the job. */
const minPauseMs = 3_000

/** Watches for goals that are due, and for workspaces whose settings have changed. */
export function watchGoals({ db, clock }: { db: Db; clock: Clock }): DueWatch {
  const nextAt = (now: Date) =>
    firstTime(db.sql<{ at: Date | null }[]>`
      select min(g.at) as at
      from (
        select min(c.goal_due_at) as at
        from conversations c
        where c.goal_due_at is not null
          and ${isIdle(db.sql)}
        union all
        select min(c.now_goal_due_at)
        from moving_conversations m
        join conversations c
          on c.workspace_id = m.workspace_id
          and c.id = m.conversation_id
        union all
        select least(min(requested_at), ${now}::timestamptz)
        from goal_updates
        having count(*) > 0
      ) as g`)
  const watchedTopics = [{ topic: conversationsTopic }]
  return watchDueWork({ db, clock }, { nextAt, pollEveryMs, minPauseMs, watchedTopics })
}

/**
 * Records the goals that were missed, each once, and computes the clocks of workspaces again whose settings have changed.
 * Called by a timer; several nodes share the work. Returns the number of missed goals and of changed conversations.
 */
export async function runGoals(deps: GoalDeps): Promise<number> {
  const updated = await updateGoals(deps)
  let missed = 0
  for (const workspaceId of await listDue(deps.db.sql, deps.clock.now())) {
    for (let count = batchSize; count === batchSize; ) {
      const found = await inTransaction(deps, workspaceId, recordMissed)
      for (const goal of found.missed) deps.onMissed?.(goal)
      missed += found.missed.length
      count = found.conversations
    }
  }
  return updated + missed
}

async function listDue(sql: Sql, now: Date): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select c.workspace_id as id
    from conversations c
    where c.goal_due_at <= ${now}
      and ${isIdle(sql)}
    union
    select m.workspace_id
    from moving_conversations m
    join conversations c
      on c.workspace_id = m.workspace_id
      and c.id = m.conversation_id
    where c.now_goal_due_at <= ${now}`
  return rows.map(({ id }) => id)
}

/** Skips conversations that are locked: they change, and the next run sees them. */
async function recordMissed(work: ChangeTx) {
  const { tx, keyring, workspaceId, now } = work
  const rows = await tx<ConversationRow[]>`
    select ${conversationColumns(tx)}
    from conversations c
    where c.workspace_id = ${workspaceId}
      and c.id = any (array(
        (
          select i.id
          from conversations i
          where i.workspace_id = ${workspaceId}
            and i.goal_due_at <= ${now}
            and not i.is_moving
          order by i.goal_due_at
          limit ${batchSize}
        )
        union all
        (
          select m.conversation_id
          from moving_conversations m
          where m.workspace_id = ${workspaceId}
        )
      ))
      and ${currentColumns.goalDueAt(tx)} <= ${now}
    order by c.id
    limit ${batchSize}
    for update of c skip locked`
  const due = rows.map((row) => decryptConversation(keyring, row)).map((one) => ({ one, clocks: dueClocks(one, now) }))
  const misses = due.flatMap(({ one, clocks }) => clocks.map((clock) => missOf(one, clock, now)))
  if (misses.length === 0) return { conversations: 0, missed: [] }
  const recorded = await insertMisses(work, misses)
  const isNew = ({ id }: Miss) => recorded.has(id)
  const missed = due.map(({ one, clocks }) => withMissed(one, clocks))
  await storeGoals(tx, workspaceId, missed)
  const conversations = new Map(due.map(({ one }) => [one.id, one]))
  const items = misses.filter(isNew).flatMap(({ conversationId, goal, dueAt }) => {
    const conversation = conversations.get(conversationId)
    const detail = { kind: 'goal', goal, dueAt: dueAt.toISOString() } as const
    return conversation === undefined ? [] : { conversation, detail }
  })
  await recordActivities(work, items, { actor: systemActor, reason: 'timer' })
  await notify(work, misses.filter(isNew))
  return { conversations: rows.length, missed: misses.filter(isNew).map(({ goal }) => goal) }
}

const dueClocks = ({ goal }: Conversation, now: Date): GoalClock[] =>
  (goal?.clocks ?? []).filter(({ dueAt, isMissed }) => !isMissed && new Date(dueAt) <= now)

function withMissed(conversation: Conversation, missed: readonly GoalClock[]): Conversation {
  const { goal } = conversation
  if (goal === null) return conversation
  const clocks = goal.clocks.map((clock) => (missed.includes(clock) ? { ...clock, isMissed: true as const } : clock))
  return { ...conversation, goal: { ...goal, clocks } }
}

interface Miss {
  id: string
  conversationId: string
  goal: Goal
  since: Date
  dueAt: Date
  teamId: string | null
  assignedTo: string | null
  keyId: string | null
}

const missOf = ({ id, teamId, assignedTo, owner }: Conversation, clock: GoalClock, now: Date): Miss => ({
  ...{ id: newId(now), conversationId: id, goal: clock.goal, teamId, assignedTo },
  ...{ since: new Date(clock.since), dueAt: new Date(clock.dueAt) },
  keyId: owner.type === 'agent' ? owner.keyId : null,
})

/** Returns the ids of those that were not recorded before, by earlier settings. */
async function insertMisses({ tx, workspaceId, now }: ChangeTx, misses: readonly Miss[]): Promise<Set<string>> {
  const rows = await tx<{ id: string }[]>`
    insert into missed_goals (
      workspace_id, created_at, id, conversation_id, team_id, assigned_to, key_id, goal, since, due_at
    )
    select ${workspaceId}::uuid, ${now}::timestamptz, n.*
    from ${unnested(misses, {
      uuid: ['id', 'conversationId', 'teamId', 'assignedTo', 'keyId'],
      text: ['goal'],
      timestamptz: ['since', 'dueAt'],
    })}
    on conflict (workspace_id, conversation_id, goal, since) do nothing
    returning id`
  return new Set(rows.map(({ id }) => id))
}

/** Stores the goals of locked conversations. */
async function storeGoals(tx: Tx, workspaceId: string, conversations: readonly Conversation[]): Promise<void> {
  const rows = conversations.map(({ id, goal }) => {
    const { goal: json, goal_due_at: dueAt, goal_missed_at: missedAt } = encodeGoal(goal)
    return { id, json, dueAt, missedAt }
  })
  await tx`
    update conversations c
    set goal = n.json,
      goal_missed_at = n.missed_at,
      goal_due_at = case when c.is_moving then c.goal_due_at else n.due_at end,
      now_goal_due_at = case when c.is_moving then n.due_at end
    from ${unnested(rows, { uuid: ['id'], jsonb: ['json'], timestamptz: ['dueAt', 'missedAt'] })}
    where c.workspace_id = ${workspaceId}
      and c.id = n.id`
  const ids = conversations.map(({ id }) => id)
  publishConversations(tx, workspaceId, ids)
}

/** More conversations for the same people become one notification. */
const maxSeparate = 5

/** Notifies the assignee, else the members of the team, else everybody. */
async function notify({ tx, workspaceId, now }: ChangeTx, misses: readonly Miss[]): Promise<void> {
  const unassigned = misses.filter(({ assignedTo }) => assignedTo === null)
  const teamIds = [...new Set(unassigned.flatMap(({ teamId }) => teamId ?? []))]
  const members =
    teamIds.length === 0
      ? []
      : await tx<{ teamId: string; userId: string }[]>`
          select team_id as "teamId", user_id as "userId"
          from team_members
          where workspace_id = ${workspaceId}
            and team_id = any (${teamIds}::uuid[])`
  const membersOf = Map.groupBy(members, ({ teamId }) => teamId)
  const recipientsOf = ({ assignedTo, teamId }: Miss): (string | null)[] => {
    if (assignedTo !== null) return [assignedTo]
    const people = (teamId === null ? undefined : membersOf.get(teamId)) ?? []
    return people.length === 0 ? [null] : people.map(({ userId }) => userId)
  }
  const addressed = misses.flatMap((miss) => recipientsOf(miss).map((userId) => ({ miss, userId })))
  const notifications = [...Map.groupBy(addressed, ({ userId }) => userId)].flatMap(
    ([userId, group]): NewNotification[] => {
      const common = { kind: 'goal', userId, actor: systemActor } as const
      if (group.length > maxSeparate) return [{ ...common, cause: newId(now), count: group.length }]
      return group.map(({ miss: { id, conversationId } }) => ({ ...common, cause: id, conversationId }))
    },
  )
  await recordNotifications(tx, workspaceId, notifications, now)
}

/** Moves what a conversation missed to the one that it is merged into. */
export async function moveMissedGoals(tx: Tx, workspaceId: string, fromId: string, toId: string): Promise<void> {
  await tx`
    update missed_goals m
    set conversation_id = ${toId}
    where m.workspace_id = ${workspaceId}
      and m.conversation_id = ${fromId}
      and not exists (
        select 1
        from missed_goals o
        where o.workspace_id = ${workspaceId}
          and o.conversation_id = ${toId}
          and o.goal = m.goal
          and o.since = m.since
      )`
  await tx`
    delete from missed_goals
    where workspace_id = ${workspaceId}
      and conversation_id = ${fromId}`
}

/** Computes the clocks of changed settings in bounded steps; a step that is lost is repeated. */
async function updateGoals(deps: GoalDeps): Promise<number> {
  const waiting = await deps.db.sql<{ id: string }[]>`select workspace_id as id from goal_updates`
  let changed = 0
  for (const { id: workspaceId } of waiting) {
    for (let hasMore = true; hasMore; ) {
      const step = await inTransaction(deps, workspaceId, updateBatch)
      changed += step.changed
      hasMore = step.hasMore
    }
  }
  return changed
}

async function updateBatch({ tx, keyring, workspaceId }: ChangeTx) {
  const [update] = await tx<{ afterId: string }[]>`
    select after_id as "afterId"
    from goal_updates
    where workspace_id = ${workspaceId}
    for update skip locked`
  // Another node does it.
  if (update === undefined) return { changed: 0, hasMore: false }
  const settings = await readServiceSettings(tx, workspaceId)
  const next = await tx<{ id: string }[]>`
    select id
    from conversations
    where workspace_id = ${workspaceId}
      and id > ${update.afterId}
    order by id
    limit ${batchSize}`
  const last = next.at(-1)
  if (last === undefined) {
    await tx`delete from goal_updates where workspace_id = ${workspaceId}`
    return { changed: 0, hasMore: false }
  }
  const rows = await tx<ConversationRow[]>`
    select ${conversationColumns(tx)}
    from conversations c
    where c.workspace_id = ${workspaceId}
      and c.id = any (${next.map(({ id }) => id)}::uuid[])
      and (c.goal is not null or c.status in ('open', 'pending', 'snoozed'))
    order by c.id
    for update of c`
  const changed = rows.flatMap((row) => {
    const before = decryptConversation(keyring, row)
    const after = withGoal(before, settings, { isRecomputed: true })
    return after === before ? [] : [after]
  })
  if (changed.length > 0) await storeGoals(tx, workspaceId, changed)
  await tx`
    update goal_updates
    set after_id = ${last.id}
    where workspace_id = ${workspaceId}`
  return { changed: changed.length, hasMore: true }
}
