import type { Fragment, Tx } from '../../base/db.ts'
import { timestampArray } from '../../base/postgres/values.ts'
import { recordNotifications } from '../../notifications/record-notifications.ts'
import { systemActor } from '../../workspaces/actor.ts'
import { withUpdatedAt } from '../conversation/change.ts'
import { type ActivityReason, commitChange } from '../conversation/commit-change.ts'
import type { ChangeTx, Conversation, PlainTx } from '../conversation/conversation.ts'
import { lockToPeople } from '../conversation/owner.ts'
import { lockRouting } from './lock-routing.ts'
import { createRouter, type Route } from './routing.ts'

const minuteMs = 60_000
/** How often a team is asked again for someone who is available. */
export const retryMs = 30_000

/** Returns the conversation with the team and the assignee of its route. */
export function withRoute(conversation: Conversation, { teamId, assignedTo }: Route): Conversation {
  if (teamId === conversation.teamId && assignedTo === conversation.assignedTo) return conversation
  const routed = { ...conversation, teamId, assignedTo }
  return assignedTo === null ? routed : lockToPeople(routed)
}

/** A conversation that was stored with its route. */
export interface RoutedConversation {
  conversationId: string
  route: Route
  /** How many people have had it without answering. */
  attempts?: number
}

/**
 * Stores the turns of assignees and what waits, and notifies assignees, unless the caller does; after the conversations,
 * under the routing lock.
 */
export async function recordRoutes(
  { tx, workspaceId, now }: PlainTx,
  routed: readonly RoutedConversation[],
  notifies = true,
): Promise<void> {
  const assigned = routed.filter(({ route }) => route.assignedTo !== null)
  const waits = routed.flatMap(({ conversationId, route, attempts = 0 }) => {
    const waitMs = route.isQueued ? retryMs : (route.answerMinutes ?? 0) * minuteMs
    const { teamId, assignedTo: userId } = route
    return waitMs === 0 ? [] : [{ conversationId, teamId, userId, attempts, dueAt: new Date(now.getTime() + waitMs) }]
  })
  const notifications = (notifies ? assigned : []).map(({ conversationId, route }) => ({
    ...{ kind: 'assigned' as const, cause: `${conversationId} ${now.toISOString()}`, userId: route.assignedTo },
    ...{ conversationId, actor: systemActor },
  }))
  await Promise.all([
    assigned.length === 0 ? null : storeTurns(tx, workspaceId, assigned),
    waits.length === 0
      ? null
      : tx`
        insert into routing_waits (workspace_id, conversation_id, team_id, user_id, attempts, due_at)
        select ${workspaceId}::uuid, n.*
        from unnest(
          ${waits.map((wait) => wait.conversationId)}::uuid[],
          ${waits.map((wait) => wait.teamId)}::uuid[],
          ${waits.map((wait) => wait.userId)}::uuid[],
          ${waits.map((wait) => wait.attempts)}::smallint[],
          ${timestampArray(waits.map((wait) => wait.dueAt))}::timestamptz[]
        ) as n
        on conflict (workspace_id, conversation_id) do update
        set team_id = excluded.team_id,
          user_id = excluded.user_id,
          attempts = excluded.attempts,
          due_at = excluded.due_at`.execute(),
    recordNotifications(tx, workspaceId, notifications, now),
  ])
}

async function storeTurns(tx: Tx, workspaceId: string, assigned: readonly RoutedConversation[]): Promise<void> {
  const turns = new Map(assigned.map(({ route }) => [`${route.teamId} ${route.assignedTo}`, route]))
  const newest = [...turns.values()]
  await tx`
    update team_members m
    set turn = n.turn
    from unnest(
      ${newest.map(({ teamId }) => teamId)}::uuid[],
      ${newest.map(({ assignedTo }) => assignedTo)}::uuid[],
      ${newest.map(({ turn }) => turn)}::integer[]
    ) as n (team_id, user_id, turn)
    where m.workspace_id = ${workspaceId}
      and m.team_id = n.team_id
      and m.user_id = n.user_id`.execute()
}

/**
 * Assigns a locked conversation of people to the next member of its team. `from` had it without answering: the reason
 * is then `no_answer`. Without anybody available it stays as it is, and the team is asked again in a moment. Returns it
 * after the change; the same object means that nobody was available.
 */
export async function assignInTeam(
  work: ChangeTx,
  before: Conversation,
  teamId: string,
  from: { userId: string; attempts: number } | null = null,
): Promise<Conversation> {
  const { tx, workspaceId, now } = work
  const state = await lockRouting(work, { teamId }, [])
  const route = createRouter(state, { keys: [], isStopped: true, now }).assign(teamId, from?.userId ?? null)
  const { id: conversationId } = before
  if (route.assignedTo === null && from !== null) {
    // As long as the assignee had: with nobody else, every conversation of the team would be asked for all the time.
    const waitMs = Math.max(retryMs, (state.teams.get(teamId)?.answerMinutes ?? 0) * minuteMs)
    await postpone(tx, workspaceId, tx`and conversation_id = ${conversationId}`, new Date(now.getTime() + waitMs))
    return before
  }
  const attempts = from === null ? 0 : from.attempts + 1
  if (route.assignedTo === null) {
    await recordRoutes(work, [{ conversationId, route, attempts }])
    return before
  }
  const reason: ActivityReason | null = from === null ? route.reason : 'no_answer'
  const after = withUpdatedAt(withRoute(before, route), now)
  await commitChange(work, before, { conversation: after, events: [] }, { actor: systemActor, reason })
  if (route.answerMinutes === null) await endWait(tx, workspaceId, conversationId)
  await recordRoutes(work, [{ conversationId, route, attempts }])
  return after
}

/** Makes waits of the workspace due later. */
export async function postpone(tx: Tx, workspaceId: string, condition: Fragment, dueAt: Date): Promise<void> {
  await tx`
    update routing_waits
    set due_at = ${dueAt}
    where workspace_id = ${workspaceId}
      ${condition}`
}

export async function endWait(tx: Tx, workspaceId: string, conversationId: string): Promise<void> {
  await tx`
    delete from routing_waits
    where workspace_id = ${workspaceId}
      and conversation_id = ${conversationId}`
}

/** Makes these conversations of teams wait for someone to assign; at once, in a job. */
export async function queueInTeams(
  { tx, workspaceId, now }: PlainTx,
  conversations: readonly { id: string; teamId: string | null }[],
): Promise<void> {
  const ofTeams = conversations.filter(({ teamId }) => teamId !== null)
  if (ofTeams.length === 0) return
  await tx`
    insert into routing_waits (workspace_id, conversation_id, team_id, due_at)
    select ${workspaceId}::uuid, n.id, n.team_id, ${now}::timestamptz
    from unnest(${ofTeams.map(({ id }) => id)}::uuid[], ${ofTeams.map(({ teamId }) => teamId)}::uuid[]) as n (id, team_id)
    on conflict (workspace_id, conversation_id) do update
    set team_id = excluded.team_id,
      user_id = null,
      attempts = 0,
      due_at = excluded.due_at`.execute()
}
