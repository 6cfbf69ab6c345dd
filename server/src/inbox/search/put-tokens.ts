import type { Tx } from '../../base/db.ts'
import type { Keyring } from '../../base/sealing/keyring.ts'

export interface MessageTokens {
  id: string
  epoch: number
  tokens: readonly number[]
}

// Lists of different lengths do not go into one array of arrays: they travel as texts.
const listed = (rows: readonly { tokens: readonly number[] }[]) => rows.map(({ tokens }) => `{${tokens}}`)

export async function putMessageTokens(
  tx: Tx,
  keyring: Keyring,
  workspaceId: string,
  messages: readonly MessageTokens[],
): Promise<void> {
  if (messages.length === 0) return
  await tx`
    insert into message_search (workspace_id, message_id, index_version, epoch, tokens)
    select ${workspaceId}::uuid, r.id, ${keyring.indexVersion}::integer, r.epoch, r.tokens::integer[]
    from unnest(
      ${messages.map(({ id }) => id)}::uuid[],
      ${messages.map(({ epoch }) => epoch)}::integer[],
      ${listed(messages)}::text[]
    ) as r (id, epoch, tokens)
    on conflict (workspace_id, message_id)
    do update set tokens = excluded.tokens, index_version = excluded.index_version`
}

export async function putConversationTokens(
  tx: Tx,
  keyring: Keyring,
  workspaceId: string,
  conversations: readonly { id: string; tokens: readonly number[] }[],
): Promise<void> {
  if (conversations.length === 0) return
  await tx`
    insert into conversation_search (workspace_id, conversation_id, index_version, tokens)
    select ${workspaceId}::uuid, r.id, ${keyring.indexVersion}::integer, r.tokens::integer[]
    from unnest(${conversations.map(({ id }) => id)}::uuid[], ${listed(conversations)}::text[]) as r (id, tokens)
    on conflict (workspace_id, conversation_id)
    do update set tokens = excluded.tokens, index_version = excluded.index_version`
}

/** To be called by whoever holds the progress. */
export async function dropMessageTokens(tx: Tx, workspaceId: string, ids: readonly string[]): Promise<void> {
  await tx`
    delete from message_search
    where workspace_id = ${workspaceId}
      and message_id = any (${[...ids]}::uuid[])`
}

/** To be called by whoever holds the progress. */
export async function dropConversationTokens(tx: Tx, workspaceId: string, ids: readonly string[]): Promise<void> {
  await tx`
    delete from conversation_search
    where workspace_id = ${workspaceId}
      and conversation_id = any (${[...ids]}::uuid[])`
}
