import { byteaArray } from '../../base/postgres/values.ts'
import type { Actor } from '../../workspaces/actor.ts'
import { currentColumns } from '../conversation/activity-columns.ts'
import type { Conversation, ReadDeps, WorkspaceSql } from '../conversation/conversation.ts'
import { type ConversationRow, decryptConversation, phoneIndexes } from '../conversation/encrypted-conversation.ts'
import { writeOwner } from '../conversation/owner.ts'
import { conversationColumns } from '../conversation/queries.ts'
import { decryptNote, type NoteRow, noteColumns } from '../notes/notes.ts'
import { decryptMessageView, type MessageViewRow, messageViewColumns } from './read-messages.ts'

/** A message or note in a lead's timeline. */
export interface ConversationEntry {
  id: string
  at: Date
  kind: 'message' | 'note'
  actor: Actor | null
  text: string
  conversationId: string
  message?: {
    connectionId: string
    direction: 'inbound' | 'outbound'
    kind: string
    file: string | null
    status: string
  }
}

export interface EntryKinds {
  messages: boolean
  notes: boolean
}

export interface EntryRange {
  before: { at: Date; id: string } | null
  limit: number
}

const maxConversations = 20
const maxText = 1000

/** Returns messages and notes of the conversations with these phones, in any variant, newest first within each kind. */
export async function listEntriesByPhone(
  { db: { sql }, keyStore }: ReadDeps,
  workspaceId: string,
  phones: readonly string[],
  kinds: EntryKinds,
  range: EntryRange,
): Promise<ConversationEntry[]> {
  const keyring = await keyStore.keyring(workspaceId)
  const work = { sql, keyring, workspaceId }
  const rows = await sql<{ id: string }[]>`
    select c.id
    from conversations c
    ${phoneClauses(work, phones, maxConversations)}`
  if (rows.length === 0) return []
  const ids = rows.map(({ id }) => id)
  const [messages, notes] = await Promise.all([
    kinds.messages ? selectMessages(work, ids, range) : [],
    kinds.notes ? selectNotes(work, ids, range) : [],
  ])
  return [...messages, ...notes]
}

// Reads the next messages of each conversation by index, regardless of planner statistics, then the next of those.
async function selectMessages(reader: WorkspaceSql, conversationIds: readonly string[], { before, limit }: EntryRange) {
  const { sql, keyring, workspaceId } = reader
  const rows = await sql<(MessageViewRow & { conversation_id: string })[]>`
    select m.*
    from unnest(${conversationIds as string[]}::uuid[]) as c (id)
    cross join lateral (
      select ${messageViewColumns(sql)}, m.conversation_id
      from messages m
      where m.workspace_id = ${workspaceId}
        and m.conversation_id = c.id
        ${before === null ? sql`` : sql`and (m.occurred_at, m.id) < (${before.at}::timestamptz, ${before.id}::uuid)`}
      order by m.occurred_at desc, m.id desc
      limit ${limit}
    ) as m
    order by m.occurred_at desc, m.id desc
    limit ${limit}`
  return rows.map((row) => {
    const { id, occurredAt: at, actor, text, detail, ...message } = decryptMessageView(keyring, row)
    const { connectionId, direction, kind, status } = message
    return {
      ...{ id, at, kind: 'message' as const, actor, conversationId: row.conversation_id },
      text: [...text].slice(0, maxText).join(''),
      message: { connectionId, direction, kind, file: detail?.media?.kind ?? null, status },
    }
  })
}

async function selectNotes(reader: WorkspaceSql, conversationIds: readonly string[], { before, limit }: EntryRange) {
  const { sql, keyring, workspaceId } = reader
  const rows = await sql<(NoteRow & { conversation_id: string })[]>`
    select n.*
    from unnest(${conversationIds as string[]}::uuid[]) as c (id)
    cross join lateral (
      select ${noteColumns(sql, workspaceId)}, n.conversation_id
      from conversation_notes n
      where n.workspace_id = ${workspaceId}
        and n.conversation_id = c.id
        ${before === null ? sql`` : sql`and (n.created_at, n.id) < (${before.at}::timestamptz, ${before.id}::uuid)`}
      order by n.created_at desc, n.id desc
      limit ${limit}
    ) as n
    order by n.created_at desc, n.id desc
    limit ${limit}`
  return rows.map((row) => {
    const { id, text, actor, createdAt } = decryptNote(keyring, row)
    return { id, at: createdAt, kind: 'note' as const, actor, text, conversationId: row.conversation_id }
  })
}

/** A conversation on a lead's page. */
export type ConversationSummary = ReturnType<typeof summarize>

const maxSummaries = 100

/** Returns the conversations of these phones, in any variant; at most one per phone and connection. */
export async function listConversationsByPhone(
  { db: { sql }, keyStore }: ReadDeps,
  workspaceId: string,
  phones: readonly string[],
): Promise<ConversationSummary[]> {
  if (phones.length === 0) return []
  const keyring = await keyStore.keyring(workspaceId)
  const rows = await sql<ConversationRow[]>`
    select ${conversationColumns(sql)}
    from conversations c
    ${phoneClauses({ sql, keyring, workspaceId }, phones, maxSummaries)}`
  return rows.map((row) => summarize(decryptConversation(keyring, row)))
}

function summarize({ id, connectionId, channel, owner, ...more }: Conversation) {
  const { status, assignedTo, unreadCount, lastMessageAt, unansweredSince, lastMessage } = more
  const state = { status, assignedTo, unreadCount, lastMessageAt, unansweredSince, lastMessage }
  return { id, connectionId, channel, owner: writeOwner(owner), ...state }
}

/** SQL: clauses that select the newest `limit` `conversations c` with a phone. */
const phoneClauses = ({ sql, keyring, workspaceId }: WorkspaceSql, phones: readonly string[], limit: number) => sql`
  where c.workspace_id = ${workspaceId}
    and c.phone_index is not null
    and c.phone_index = any (${byteaArray(phones.flatMap((phone) => phoneIndexes(keyring, phone)))}::bytea[])
  order by ${currentColumns.lastMessageAt(sql)} desc, c.id desc
  limit ${limit}`
