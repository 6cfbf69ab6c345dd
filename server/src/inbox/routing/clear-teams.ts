import type { Tx } from '../../base/db.ts'
import { systemActor } from '../../workspaces/actor.ts'
import { setUpdatedNow } from '../conversation/activity-columns.ts'
import { recordActivities } from '../conversation/commit-change.ts'
import { type ChangeDeps, type ChangeTx, inWorkspace, publishConversations } from '../conversation/conversation.ts'

/** Conversations that one transaction reads. */
const stepSize = 2_000
/** Transactions of one run; the next run continues. */
const maxSteps = 50

/** Removes a deleted team from the rules that route to it, in the transaction of its deletion. */
export async function dropTeam(tx: Tx, workspaceId: string, teamId: string): Promise<void> {
  await tx`
    update routing_rules
    set team_id = null
    where workspace_id = ${workspaceId}
      and team_id = ${teamId}`
}

/**
 * Removes deleted teams from their conversations, in steps of a range of ids each. Called by a timer on any node.
 * Returns how many conversations changed.
 */
export async function clearRemovedTeams(deps: ChangeDeps): Promise<number> {
  let cleared = 0
  for (let step = 0; step < maxSteps; step++) {
    const [removal] = await deps.db.sql<{ workspaceId: string; teamId: string }[]>`
      select workspace_id as "workspaceId", team_id as "teamId"
      from team_removals
      limit 1`
    if (removal === undefined) break
    cleared += await inWorkspace(deps, removal.workspaceId, (work) => clearRange(work, removal.teamId))
  }
  return cleared
}

async function clearRange(work: ChangeTx, teamId: string): Promise<number> {
  const { tx, workspaceId } = work
  const [removal] = await tx<{ clearedTo: string }[]>`
    select cleared_to as "clearedTo"
    from team_removals
    where workspace_id = ${workspaceId}
      and team_id = ${teamId}
    for update`
  if (removal === undefined) return 0
  const range = await tx<{ id: string; isOfTeam: boolean }[]>`
    select id, team_id is not distinct from ${teamId}::uuid as "isOfTeam"
    from conversations
    where workspace_id = ${workspaceId}
      and id > ${removal.clearedTo}
    order by id
    limit ${stepSize}`
  const ofTeam = range.flatMap(({ id, isOfTeam }) => (isOfTeam ? id : []))
  await clear(work, teamId, ofTeam)
  const last = range.at(-1)
  if (last === undefined || range.length < stepSize) {
    await tx`
      delete from team_removals
      where workspace_id = ${workspaceId}
        and team_id = ${teamId}`
  } else {
    await tx`
      update team_removals
      set cleared_to = ${last.id}
      where workspace_id = ${workspaceId}
        and team_id = ${teamId}`
  }
  return range.filter(({ isOfTeam }) => isOfTeam).length
}

async function clear(work: ChangeTx, teamId: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  const { tx, workspaceId, now } = work
  const cleared = await tx<{ id: string; connectionId: string }[]>`
    with due as (
      select id
      from conversations
      where workspace_id = ${workspaceId}
        and id = any (${[...ids]}::uuid[])
        and team_id = ${teamId}
      order by id
      for update
    )
    update conversations c
    set team_id = null,
      ${setUpdatedNow(tx, now)}
    from due
    where c.workspace_id = ${workspaceId}
      and c.id = due.id
    returning c.id, c.connection_id as "connectionId"`
  const detail = { kind: 'team', from: teamId, to: null } as const
  const items = cleared.map((conversation) => ({ conversation, detail }))
  await recordActivities(work, items, { actor: systemActor, reason: null })
  const clearedIds = cleared.map(({ id }) => id)
  publishConversations(tx, workspaceId, clearedIds)
}
