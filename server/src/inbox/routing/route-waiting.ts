import type { Clock } from '../../base/clock.ts'
import type { Db, Sql } from '../../base/db.ts'
import { type DueWatch, watchDueWork } from '../../base/pubsub.ts'
import { type OpeningHours, openingAt } from '../../team/opening-hours.ts'
import { systemActor } from '../../workspaces/actor.ts'
import { readServiceSettings, serviceOf } from '../../workspaces/service/service-settings.ts'
import { withUpdatedAt } from '../conversation/change.ts'
import { commitChange } from '../conversation/commit-change.ts'
import {
  type ChangeDeps,
  type ChangeTx,
  type Conversation,
  conversationsTopic,
  firstTime,
  inTransaction,
} from '../conversation/conversation.ts'
import { lockConversation } from '../conversation/queries.ts'
import { assignInTeam, endWait, postpone, retryMs } from './assign.ts'
import { type RoutedTeam, type RoutingWait, type WaitingConversation, waitStep } from './routing.ts'

const pollEveryMs = 15_000
/** In a busy inbox every change wakes the timer. */
const minPauseMs = 3_000
const batchSize = 100
/** Batches of one run; the next run continues. */
const maxBatches = 10
/** How long to wait for hours that never come. */
const closedMs = 3_600_000

/** Watches for conversations of teams that wait for someone. */
export function watchRoutingWaits({ db, clock }: { db: Db; clock: Clock }): DueWatch {
  const nextAt = () => firstTime(db.sql<{ at: Date | null }[]>`select min(due_at) as at from routing_waits`)
  const watchedTopics = [{ topic: conversationsTopic }]
  return watchDueWork({ db, clock }, { nextAt, pollEveryMs, minPauseMs, watchedTopics })
}

interface DueWait extends RoutingWait {
  workspaceId: string
  conversationId: string
}

/**
 * Assigns conversations of teams that waited for someone who is available, and those whose assignee has not answered
 * in time, to the next person of the team. Called by a timer on any node: the lock of the conversation makes sure that
 * only one decides. Returns how many got another assignee, or none.
 */
export async function settleRoutingWaits(deps: ChangeDeps): Promise<number> {
  let changed = 0
  for (let batch = 0; batch < maxBatches; batch++) {
    const due = await listDue(deps.db.sql, deps.clock.now())
    const emptyTeams = new Set<string>()
    for (const wait of due) {
      // One statement has postponed the others of this team.
      if (wait.userId === null && emptyTeams.has(wait.teamId)) continue
      const result = await inTransaction(deps, wait.workspaceId, (work) => settle(work, wait))
      if (result === 'nobody') emptyTeams.add(wait.teamId)
      if (result === 'changed') changed++
    }
    if (due.length < batchSize) break
  }
  return changed
}

const listDue = (sql: Sql, now: Date) => sql<DueWait[]>`
  select workspace_id as "workspaceId", conversation_id as "conversationId", team_id as "teamId", user_id as "userId",
    attempts
  from routing_waits
  where due_at <= ${now}
  order by due_at, conversation_id
  limit ${batchSize}`

type Settled = 'changed' | 'nobody' | 'unchanged'

async function settle(work: ChangeTx, { workspaceId, conversationId }: DueWait): Promise<Settled> {
  const { tx, now } = work
  const before = await lockConversation(work, { workspaceId, connectionIds: [] }, conversationId)
  const [wait] = await tx<RoutingWait[]>`
    select team_id as "teamId", user_id as "userId", attempts
    from routing_waits
    where workspace_id = ${workspaceId}
      and conversation_id = ${conversationId}
      and due_at <= ${now}
    for update`
  // Another process was faster, or the conversation was merged or erased.
  if (wait === undefined || before === undefined) return 'unchanged'
  const { team, hours } = await readTeam(tx, workspaceId, wait.teamId)
  const step = waitStep(wait, waitingOf(before), team)
  if (step === 'end') {
    await endWait(tx, workspaceId, conversationId)
    return 'unchanged'
  }
  const opening = hours === null ? null : openingAt(hours, now)
  if (wait.userId !== null && opening?.isOpen === false) {
    const opensMs = opening.nextChangeAt?.getTime() ?? now.getTime() + closedMs
    const dueAt = new Date(opensMs + (team?.answerMinutes ?? 0) * 60_000)
    await postpone(tx, workspaceId, tx`and conversation_id = ${conversationId}`, dueAt)
    return 'unchanged'
  }
  if (step === 'release') {
    await endWait(tx, workspaceId, conversationId)
    const change = { conversation: withUpdatedAt({ ...before, assignedTo: null }, now), events: [] }
    await commitChange(work, before, change, { actor: systemActor, reason: 'no_answer' })
    return 'changed'
  }
  const from = wait.userId === null ? null : { userId: wait.userId, attempts: wait.attempts }
  if ((await assignInTeam(work, before, wait.teamId, from)) !== before) return 'changed'
  if (from !== null) return 'unchanged'
  const waitsForSomeone = tx`and team_id = ${wait.teamId} and user_id is null and due_at <= ${now}`
  await postpone(tx, workspaceId, waitsForSomeone, new Date(now.getTime() + retryMs))
  return 'nobody'
}

const waitingOf = (one: Conversation): WaitingConversation => ({
  isOfPeople: one.owner.type === 'human',
  isOpen: one.status === 'open' || one.status === 'pending',
  isWaiting: one.unansweredSince !== null || one.handover !== null,
  ...{ teamId: one.teamId, assignedTo: one.assignedTo },
})

interface TeamAndHours {
  team: Pick<RoutedTeam, 'assignment' | 'answerMinutes' | 'maxReassignments'> | undefined
  hours: OpeningHours | null
}

async function readTeam(sql: Sql, workspaceId: string, teamId: string): Promise<TeamAndHours> {
  const [[team], settings] = await Promise.all([
    sql<NonNullable<TeamAndHours['team']>[]>`
      select t.assignment, t.answer_minutes as "answerMinutes", t.max_reassignments as "maxReassignments"
      from teams t
      where t.workspace_id = ${workspaceId}
        and t.id = ${teamId}`,
    readServiceSettings(sql, workspaceId),
  ])
  return { team, hours: serviceOf(settings, teamId).hours }
}
