import type { Db, Sql } from '../../base/db.ts'
import { markNotificationsRead } from '../../notifications/notifications.ts'
import { type Contact, publishMentions, type WorkspaceSql } from '../conversation/conversation.ts'
import { decryptContact } from '../conversation/encrypted-conversation.ts'
import { encodeTimePosition, parseTimePosition } from '../read/list-range.ts'
import { decryptNote, type Note, type NoteRow, noteColumns } from './notes.ts'

export interface Mention {
  note: Note
  conversationId: string
  contact: Contact
  readAt: Date | null
}

interface MentionRow extends NoteRow {
  conversation_id: string
  contact: Buffer
  read_at: Date | null
  mentioned_at: Date
}

export interface MentionsRequest {
  limit: number
  unreadOnly: boolean
  cursor: string | null
}

/** Returns the notes that mention a member, newest first. */
export async function listMentions(
  { sql, keyring, workspaceId }: WorkspaceSql,
  userId: string,
  { limit, unreadOnly, cursor }: MentionsRequest,
): Promise<{ mentions: Mention[]; cursor: string | null }> {
  const after = cursor === null ? null : parseTimePosition('mentions', cursor)
  const rows = await sql<MentionRow[]>`
    select ${noteColumns(sql, workspaceId)}, n.conversation_id, c.contact, u.read_at, u.created_at as mentioned_at
    from note_mentions u
    join conversation_notes n
      on n.workspace_id = u.workspace_id
      and n.id = u.note_id
    join conversations c
      on c.workspace_id = n.workspace_id
      and c.id = n.conversation_id
    where u.workspace_id = ${workspaceId}
      and u.user_id = ${userId}
      ${unreadOnly ? sql`and u.read_at is null` : sql``}
      ${after === null ? sql`` : sql`and (u.created_at, u.note_id) < (${after.at}::timestamptz, ${after.id}::uuid)`}
    order by u.created_at desc, u.note_id desc
    limit ${limit + 1}`
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  return {
    mentions: shown.map((row) => ({
      note: decryptNote(keyring, row),
      conversationId: row.conversation_id,
      contact: decryptContact(keyring, row.conversation_id, row.contact),
      readAt: row.read_at,
    })),
    cursor:
      last === undefined || rows.length <= limit
        ? null
        : encodeTimePosition('mentions', { at: last.mentioned_at, id: last.id }),
  }
}

export async function countUnreadMentions(sql: Sql, workspaceId: string, userId: string): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*) as count
    from note_mentions
    where workspace_id = ${workspaceId}
      and user_id = ${userId}
      and read_at is null`
  return row?.count ?? 0
}

/** Marks a member's mentions read, in one conversation or in all. */
export async function markMentionsRead(
  db: Db,
  workspaceId: string,
  userId: string,
  conversationId: string | null,
  now: Date,
): Promise<void> {
  await db.tx(async (tx) => {
    const read = await tx`
      update note_mentions u
      set read_at = ${now}
      where u.workspace_id = ${workspaceId}
        and u.user_id = ${userId}
        and u.read_at is null
        ${
          conversationId === null
            ? tx``
            : tx`
        and exists (
          select 1 from conversation_notes n
          where n.workspace_id = ${workspaceId}
            and n.id = u.note_id
            and n.conversation_id = ${conversationId}
        )`
        }`
    if (read.count === 0) return
    publishMentions(tx, workspaceId, userId)
    const about = { kind: 'mention' as const, ...(conversationId !== null && { conversationId }) }
    await markNotificationsRead(tx, workspaceId, userId, about, now)
  })
}

export async function markNotesRead(
  db: Db,
  workspaceId: string,
  userId: string,
  noteIds: readonly string[],
  now: Date,
): Promise<void> {
  if (noteIds.length === 0) return
  await db.tx(async (tx) => {
    const read = await tx`
      update note_mentions
      set read_at = ${now}
      where workspace_id = ${workspaceId}
        and user_id = ${userId}
        and note_id = any (${[...noteIds]}::uuid[])
        and read_at is null`
    if (read.count > 0) publishMentions(tx, workspaceId, userId)
  })
}
