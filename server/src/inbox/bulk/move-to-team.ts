import type { Tx } from '../../base/db.ts'
import { checkTeam } from '../../workspaces/teams/teams.ts'
import { withUpdatedAt } from '../conversation/change.ts'
import type { ChangeTx, Conversation } from '../conversation/conversation.ts'
import { type RoutedConversation, withRoute } from '../routing/assign.ts'
import { lockRouting } from '../routing/lock-routing.ts'
import { createRouter } from '../routing/routing.ts'

export interface ConversationDiff {
  before: Conversation
  after: Conversation
}

/** Returns the members of a team that conversations move to; they keep those that they have. Throws 400 if it is unknown. */
export async function readTeamMembers(
  tx: Tx,
  workspaceId: string,
  teamId: string,
  field: string,
): Promise<Set<string>> {
  await checkTeam(tx, workspaceId, teamId, field)
  const rows = await tx<{ id: string }[]>`
    select user_id as id
    from team_members
    where workspace_id = ${workspaceId}
      and team_id = ${teamId}`
  return new Set(rows.map(({ id }) => id))
}

/**
 * Gives those conversations of people that come to the team, and that nobody has, to its members by the team's rule, one
 * after another. Requires their locks. The caller stores the conversations and then the routes.
 */
export async function routeMoved(
  { tx, workspaceId, now }: ChangeTx,
  teamId: string,
  planned: readonly ConversationDiff[],
): Promise<{ planned: readonly ConversationDiff[]; routed: RoutedConversation[] }> {
  const isMoved = ({ before, after }: ConversationDiff) =>
    before.teamId !== teamId && after.teamId === teamId && after.assignedTo === null && after.owner.type === 'human'
  if (!planned.some(isMoved)) return { planned, routed: [] }
  const state = await lockRouting(tx, workspaceId, { teamId }, [], now)
  const router = createRouter(state, { keys: [], isStopped: true, now })
  const routed: RoutedConversation[] = []
  const assigned = planned.map((one) => {
    if (!isMoved(one)) return one
    const route = router.assign(teamId)
    routed.push({ conversationId: one.before.id, route })
    return { before: one.before, after: withUpdatedAt(withRoute(one.after, route), now) }
  })
  return { planned: assigned, routed }
}
