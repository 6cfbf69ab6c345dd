import type { Fragment, Sql, Tx } from '../../base/db.ts'
import { listTeamIdsOf } from '../../workspaces/teams/teams.ts'
import { isIdle, touchedConversations } from '../conversation/activity-columns.ts'
import { changeOwner } from '../conversation/change.ts'
import { commitChange } from '../conversation/commit-change.ts'
import { type ChangeDeps, type Conversation, inWorkspace } from '../conversation/conversation.ts'
import { type ConversationRow, decryptConversation } from '../conversation/encrypted-conversation.ts'
import { human } from '../conversation/owner.ts'
import { conversationColumns } from '../conversation/queries.ts'

/** Conversations that one request tries; others take those before at the same moment. */
const maxTried = 50

/**
 * Assigns to the member the conversation of people that nobody has and whose customer has waited the longest, or that an
 * agent has handed over: of the member's teams, or of none. Requests at the same moment get different ones. Returns
 * null if there is none.
 */
export async function takeNext(deps: ChangeDeps, workspaceId: string, userId: string): Promise<Conversation | null> {
  const teamIds = await listTeamIdsOf(deps.db.sql, workspaceId, userId)
  const actor = { type: 'user' as const, id: userId }
  return inWorkspace(deps, workspaceId, async (work) => {
    const { tx, keyring, now } = work
    const isFree = freeFor(tx, teamIds)
    const row = await lockFirst(tx, workspaceId, await listWaiting(tx, workspaceId, isFree), isFree)
    if (row === null) return null
    const before = decryptConversation(keyring, row)
    const change = changeOwner(before, human, actor, now)
    await commitChange(work, before, change, { actor, reason: 'took_next' })
    return change.conversation
  })
}

/** SQL: whether a member of these teams can take the conversation `c`. */
const freeFor = (sql: Sql, teamIds: readonly string[]) => sql`
  c.owner_key_id is null
    and c.assigned_to is null
    and c.status = 'open'
    and (c.team_id is null or c.team_id = any (${[...teamIds]}::uuid[]))`

/** Returns ids in the order of waiting: by the customer's first unanswered message, or the last one before a handover. */
async function listWaiting(sql: Sql, workspaceId: string, isFree: Fragment): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select w.id
    from (
      (
        select c.id, c.unanswered_since as since
        from conversations c
        where c.workspace_id = ${workspaceId}
          and c.unanswered_since is not null
          and ${isIdle(sql)}
          and ${isFree}
        order by c.unanswered_since
        limit ${maxTried}
      )
      union all
      select c.id, c.now_unanswered_since
      from ${touchedConversations(sql, workspaceId)}
      where m.workspace_id = ${workspaceId}
        and c.now_unanswered_since is not null
        and ${isFree}
      union all
      (
        select c.id, c.last_message_at
        from conversations c
        where c.workspace_id = ${workspaceId}
          and c.handover is not null
          and ${isFree}
        order by c.last_message_at
        limit ${maxTried}
      )
    ) as w
    order by w.since, w.id
    limit ${maxTried}`
  return [...new Set(rows.map(({ id }) => id))]
}

/** Locks the first that is still free: first without waiting for others, then, if they have all, with it. */
async function lockFirst(tx: Tx, workspaceId: string, ids: readonly string[], isFree: Fragment) {
  for (const wait of [tx`skip locked`, tx``]) {
    for (const id of ids) {
      const [row] = await tx<ConversationRow[]>`
        select ${conversationColumns(tx)}
        from conversations c
        where c.workspace_id = ${workspaceId}
          and c.id = ${id}
          and ${isFree}
        for update of c ${wait}`
      if (row !== undefined) return row
    }
  }
  return null
}
