import { hiddenWorkspace } from '../../base/citus/distributed-sql.ts'
import type { Fragment, Sql, Tx } from '../../base/db.ts'
import { byteaArray } from '../../base/postgres/values.ts'
import { currentColumns, setUpdatedNow } from './activity-columns.ts'
import {
  type Conversation,
  conversationNotFound,
  publishConversations,
  publishManyChanged,
  type ReadDeps,
  type Scope,
  type WorkspaceTx,
} from './conversation.ts'
import { canStartCall, retryAfterCallsStarted } from './dispatches.ts'
import { type ConversationRow, decryptConversation, encryptConversation } from './encrypted-conversation.ts'

/** SQL: ids of a customer's conversations on all connections, by digests of phones and users. */
export const conversationIdsOf = (
  sql: Sql,
  workspaceId: string,
  phones: readonly Buffer[],
  users: readonly Buffer[],
): Fragment => sql`
  select id from conversations
  where workspace_id = ${workspaceId} and phone_index is not null and phone_index = any (${byteaArray(phones)}::bytea[])
  union
  -- The index starts with the connection; a user has one conversation on each.
  select u.id
  from connections n
  join conversations u on u.workspace_id = n.workspace_id and u.connection_id = n.id
  where n.workspace_id = ${workspaceId} and u.user_index is not null and u.user_index = any (${byteaArray(users)}::bytea[])`

export const conversationColumns = (sql: Sql, lastMessage = sql`c.last_message`) => sql`
  c.id,
  c.connection_id,
  c.channel,
  c.contact,
  c.owner_key_id,
  c.owner_epoch,
  c.owner_since,
  c.held,
  c.handover,
  c.thread_owner,
  c.thread_at,
  c.status,
  c.snoozed_until,
  c.assigned_to,
  c.team_id,
  c.label_ids,
  c.priority,
  c.goal,
  ${currentColumns.unreadCount(sql)} as unread_count,
  c.window_expires_at,
  ${currentColumns.lastMessageAt(sql)} as last_message_at,
  ${currentColumns.unansweredSince(sql)} as unanswered_since,
  c.newest_inbound_id,
  c.seen_inbound_id,
  c.answered_inbound_id,
  ${lastMessage},
  c.created_at,
  ${currentColumns.updatedAt(sql)} as updated_at`

/**
 * SQL: the workspace id, hidden from the planner, for lookups of many rows by index. For a workspace missing from its
 * statistics the planner expects at most one row, and would then read all of a large workspace for each lookup.
 */
export const opaqueWorkspaceId = (sql: Sql, workspaceId: string) => hiddenWorkspace(sql, workspaceId)

// SQL: matches a conversation by its id or by the id of one that was merged into it.
export const matchesConversationId = (sql: Sql, { workspaceId, connectionIds }: Scope, id: string) => sql`
  c.workspace_id = ${workspaceId}
    and c.id = coalesce(
      (select a.conversation_id from conversation_aliases a where a.workspace_id = ${workspaceId} and a.id = ${id}),
      ${id}
    )
    ${connectionIds.length === 0 ? sql`` : sql`and c.connection_id = any (${[...connectionIds]}::uuid[])`}`

/** SQL: the current id of the conversation that an id or alias refers to, within the scope. */
export const resolvedConversationId = (sql: Sql, scope: Scope, id: string) => sql`
  select c.id
  from conversations c
  where ${matchesConversationId(sql, scope, id)}`

export async function findConversation(sql: Sql, scope: Scope, id: string): Promise<ConversationRow | undefined> {
  const [row] = await sql<ConversationRow[]>`
    select ${conversationColumns(sql)}
    from conversations c
    where ${matchesConversationId(sql, scope, id)}`
  return row
}

/** Does the same; throws 404 outside the scope. */
export async function requireConversation(sql: Sql, scope: Scope, id: string): Promise<ConversationRow> {
  const row = await findConversation(sql, scope, id)
  if (row === undefined) throw conversationNotFound()
  return row
}

/** Reads a conversation and decrypts it. Throws 404 outside the scope. */
export async function loadConversation({ db, keyStore }: ReadDeps, scope: Scope, id: string): Promise<Conversation> {
  const row = await requireConversation(db.sql, scope, id)
  return keyStore.withKeyring(scope.workspaceId, async (keyring) => decryptConversation(keyring, row))
}

export async function selectConversations(
  sql: Sql,
  workspaceId: string,
  ids: readonly string[],
): Promise<ConversationRow[]> {
  return sql<ConversationRow[]>`
    select ${conversationColumns(sql)}
    from conversations c
    where c.workspace_id = ${workspaceId}
      and c.id = any (${[...ids]}::uuid[])`
}

/** Locks a conversation for a change until the transaction ends. */
export async function lockConversation(
  { tx, keyring }: Pick<WorkspaceTx, 'tx' | 'keyring'>,
  scope: Scope,
  id: string,
): Promise<Conversation | undefined> {
  // The first attempt may wait for a merge that removes the row; the second then finds the merged conversation.
  for (let attempt = 1; attempt <= 2; attempt++) {
    const [row] = await tx<ConversationRow[]>`
      select ${conversationColumns(tx)}
      from conversations c
      where ${matchesConversationId(tx, scope, id)}
      for update of c`
    if (row !== undefined) return decryptConversation(keyring, row)
  }
  return undefined
}

/** Does the same; throws 404 outside the scope. */
export async function requireLocked(work: WorkspaceTx, scope: Scope, id: string): Promise<Conversation> {
  const conversation = await lockConversation(work, scope, id)
  if (conversation === undefined) throw conversationNotFound()
  return conversation
}

/**
 * Stores a conversation under the lock that it was read with. Marks it as touched unless a change needs the indexes to
 * follow at once. For a change of owner the transaction is rolled back and retried until no send of the previous owner
 * can still start.
 */
export async function storeConversation(work: WorkspaceTx, conversation: Conversation): Promise<void> {
  const { tx, keyring, workspaceId } = work
  publishConversations(tx, workspaceId, [conversation.id])
  const row = encryptConversation(keyring, conversation)
  const [stored] = await tx<{ may_start: boolean }[]>`
    with before as (
      select id,
        (owner_key_id, status, snoozed_until, assigned_to, label_ids, user_index, phone_index) is not distinct from (
          ${row.owner_key_id}::uuid, ${row.status}::text, ${row.snoozed_until}::timestamptz, ${row.assigned_to}::uuid,
          ${row.label_ids}::uuid[], ${row.user_index}::bytea, ${row.phone_index}::bytea
        ) as moves
      from conversations
      where workspace_id = ${workspaceId}
        and id = ${row.id}
    ),
    moved as (
      insert into moving_conversations (workspace_id, conversation_id, since)
      select ${workspaceId}::uuid, id, ${row.updated_at}::timestamptz
      from before
      where moves
      on conflict do nothing
    ),
    placed as (
      delete from moving_conversations
      where workspace_id = ${workspaceId}
        and conversation_id = (select id from before where not moves)
    ),
    stored as (
      update conversations c
      set contact = ${row.contact},
        user_index = ${row.user_index},
        phone_index = ${row.phone_index},
        phone_exact_index = ${row.phone_exact_index},
        index_version = ${row.index_version},
        owner_key_id = ${row.owner_key_id},
        owner_epoch = ${row.owner_epoch},
        starts_held_until = case when c.owner_epoch = ${row.owner_epoch} then c.starts_held_until end,
        owner_since = ${row.owner_since},
        held = ${row.held},
        handover = ${row.handover},
        thread_owner = ${row.thread_owner},
        thread_at = ${row.thread_at},
        status = ${row.status},
        snoozed_until = ${row.snoozed_until},
        assigned_to = ${row.assigned_to},
        team_id = ${row.team_id},
        label_ids = ${row.label_ids}::uuid[],
        priority = ${row.priority},
        goal = ${row.goal}::jsonb,
        goal_missed_at = ${row.goal_missed_at},
        window_expires_at = ${row.window_expires_at},
        last_message = ${row.last_message},
        newest_inbound_id = ${row.newest_inbound_id},
        seen_inbound_id = ${row.seen_inbound_id},
        answered_inbound_id = ${row.answered_inbound_id},
        is_moving = before.moves,
        unread_count = case when before.moves then c.unread_count else ${row.unread_count} end,
        last_message_at = case when before.moves then c.last_message_at else ${row.last_message_at} end,
        unanswered_since = case when before.moves then c.unanswered_since else ${row.unanswered_since} end,
        updated_at = case when before.moves then c.updated_at else ${row.updated_at} end,
        goal_due_at = case when before.moves then c.goal_due_at else ${row.goal_due_at} end,
        now_unread_count = case when before.moves then ${row.unread_count}::integer end,
        now_last_message_at = case when before.moves then ${row.last_message_at}::timestamptz end,
        now_unanswered_since = case when before.moves then ${row.unanswered_since}::timestamptz end,
        now_updated_at = case when before.moves then ${row.updated_at}::timestamptz end,
        now_goal_due_at = case when before.moves then ${row.goal_due_at}::timestamptz end
      from before
      where c.workspace_id = ${workspaceId}
        and c.id = before.id
      returning c.id
    )
    select ${canStartCall(tx, workspaceId, row.id, row.owner_epoch)} as may_start
    from stored`.execute()
  if (stored?.may_start) throw retryAfterCallsStarted(workspaceId, [row.id])
}

export async function dropLabel(tx: Tx, workspaceId: string, labelId: string, now: Date): Promise<void> {
  publishManyChanged(tx, workspaceId)
  await tx`
    update conversations c
    set label_ids = array_remove(label_ids, ${labelId}::uuid),
      ${setUpdatedNow(tx, now)}
    where workspace_id = ${workspaceId}
      and label_ids <> '{}'
      and label_ids @> array[${labelId}::uuid]`
}
