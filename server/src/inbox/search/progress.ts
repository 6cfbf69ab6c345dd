import type { Db, Fragment, Sql, Tx } from '../../base/db.ts'
import type { WorkspaceTx } from '../conversation/conversation.ts'
import type { Message } from '../conversation/message.ts'
import { messageTokens } from './message-tokens.ts'

/** Index progress of a workspace. Searches scan rows beyond it. */
export interface SearchProgress {
  /** Messages with ids up to this one are indexed. */
  messagesTo: string
  /** Epoch of the next message, and the number of messages in it. */
  epoch: number
  inEpoch: number
  /** Changes of conversations up to this time are indexed; ids break ties. */
  conversationsTo: Date
  conversationTo: string
}

const lowestId = '00000000-0000-0000-0000-000000000000'
const initialProgress: SearchProgress = {
  messagesTo: lowestId,
  epoch: 0,
  inEpoch: 0,
  conversationsTo: new Date(0),
  conversationTo: lowestId,
}

const progressColumns = (sql: Sql) => sql`
  p.messages_to as "messagesTo",
  p.epoch,
  p.in_epoch as "inEpoch",
  p.conversations_to as "conversationsTo",
  p.conversation_to as "conversationTo"`

/** Read it before the tokens: it only grows, so an older value causes more scanning but no missing results. */
export async function readProgress(sql: Sql, workspaceId: string): Promise<SearchProgress> {
  const [row] = await sql<SearchProgress[]>`
    select ${progressColumns(sql)}
    from inbox_search_progress p
    where p.workspace_id = ${workspaceId}`
  return row ?? initialProgress
}

/** Claims the progress for indexing; undefined while another transaction indexes or deletes tokens. */
export async function claimProgress(tx: Tx, workspaceId: string): Promise<SearchProgress | undefined> {
  await createProgress(tx, workspaceId)
  const [row] = await tx<SearchProgress[]>`
    select ${progressColumns(tx)}
    from inbox_search_progress p
    where p.workspace_id = ${workspaceId}
    for update skip locked`
  return row
}

/** Blocks indexing until the transaction ends, for changing or deleting indexed rows. */
export async function lockProgress(tx: Tx, workspaceId: string): Promise<SearchProgress> {
  await createProgress(tx, workspaceId)
  const [row] = await tx<SearchProgress[]>`
    select ${progressColumns(tx)}
    from inbox_search_progress p
    where p.workspace_id = ${workspaceId}
    for update`
  return row ?? initialProgress
}

/** Creates the progress rows of those workspaces `w` that have none. */
export async function createAllProgress({ sql, statement }: Db, filter: Fragment): Promise<void> {
  const rows = await sql<{ id: string }[]>`
    select w.id
    from workspaces w
    where w.id not in (select workspace_id from inbox_search_progress)
      ${filter}`
  if (rows.length === 0) return
  await statement(
    (tx) => tx`
      insert into inbox_search_progress (workspace_id)
      select id
      from unnest(${rows.map(({ id }) => id)}::uuid[]) as n (id)
      on conflict do nothing`,
  )
}

async function createProgress(tx: Tx, workspaceId: string): Promise<void> {
  await tx`
    insert into inbox_search_progress (workspace_id)
    values (${workspaceId})
    on conflict do nothing`
}

/** Replaces the tokens of a message after a change of its text; messages not yet indexed are left alone. */
export async function updateTokens(work: WorkspaceTx, { id, text }: Pick<Message, 'id' | 'text'>): Promise<void> {
  const { tx, keyring, workspaceId } = work
  const { messagesTo } = await lockProgress(tx, workspaceId)
  if (id > messagesTo) return
  const epoch = await epochOf(tx, workspaceId, id)
  const tokens = messageTokens(keyring, text, epoch)
  if (tokens.length === 0) await deleteMessageTokens(tx, workspaceId, [id])
  else await storeMessageTokens(work, [{ id, epoch, tokens }])
}

/** Returns the epoch of the message or of the one before it: epochs ascend with ids. */
async function epochOf(tx: Tx, workspaceId: string, id: string): Promise<number> {
  const [before] = await tx<{ epoch: number }[]>`
    select epoch
    from message_search
    where workspace_id = ${workspaceId}
      and message_id <= ${id}
    order by message_id desc
    limit 1`
  return before?.epoch ?? 0
}

interface MessageTokens {
  id: string
  epoch: number
  tokens: readonly number[]
}

// Lists of different lengths cannot form an array of arrays, so they are passed as text.
const arrayLiterals = (rows: readonly { tokens: readonly number[] }[]) => rows.map(({ tokens }) => `{${tokens}}`)

export async function storeMessageTokens(work: WorkspaceTx, messages: readonly MessageTokens[]): Promise<void> {
  const { tx, keyring, workspaceId } = work
  if (messages.length === 0) return
  await tx`
    insert into message_search (workspace_id, message_id, index_version, epoch, tokens)
    select ${workspaceId}::uuid, r.id, ${keyring.indexVersion}::integer, r.epoch, r.tokens::integer[]
    from unnest(
      ${messages.map(({ id }) => id)}::uuid[],
      ${messages.map(({ epoch }) => epoch)}::integer[],
      ${arrayLiterals(messages)}::text[]
    ) as r (id, epoch, tokens)
    on conflict (workspace_id, message_id)
    do update set tokens = excluded.tokens, index_version = excluded.index_version`
}

export async function storeConversationTokens(
  { tx, keyring, workspaceId }: WorkspaceTx,
  conversations: readonly { id: string; tokens: readonly number[] }[],
): Promise<void> {
  if (conversations.length === 0) return
  await tx`
    insert into conversation_search (workspace_id, conversation_id, index_version, tokens)
    select ${workspaceId}::uuid, r.id, ${keyring.indexVersion}::integer, r.tokens::integer[]
    from unnest(${conversations.map(({ id }) => id)}::uuid[], ${arrayLiterals(conversations)}::text[]) as r (id, tokens)
    on conflict (workspace_id, conversation_id)
    do update set tokens = excluded.tokens, index_version = excluded.index_version`
}

/** Requires the progress lock. */
export async function deleteMessageTokens(tx: Tx, workspaceId: string, ids: readonly string[]): Promise<void> {
  await tx`
    delete from message_search
    where workspace_id = ${workspaceId}
      and message_id = any (${[...ids]}::uuid[])`
}

/** Requires the progress lock. */
export async function deleteConversationTokens(tx: Tx, workspaceId: string, ids: readonly string[]): Promise<void> {
  await tx`
    delete from conversation_search
    where workspace_id = ${workspaceId}
      and conversation_id = any (${[...ids]}::uuid[])`
}
