import type { Fragment, Sql } from '../../base/db.ts'
import type { Keyring } from '../../base/sealing/keyring.ts'
import type { Actor } from '../../workspace/actor.ts'
import type { Activity, ActivityDetail, ActivityReason } from '../conversation/activity.ts'
import { type Note, type NoteRow, noteColumns, openNote } from '../notes/notes.ts'
import { type Handover, selectHandovers } from '../ownership/handovers.ts'
import { openShownMessage, type ShownMessage, type ShownMessageRow, teamMessageColumns } from './shown-message.ts'

/** Between what is older and what is newer; ids break ties. */
export interface TimelinePosition {
  at: Date
  id: string
}

/** What lies on one side of a position, next to it first; without one the newest are before and the oldest after. */
export interface Stretch {
  side: 'before' | 'after'
  position: TimelinePosition | null
  limit: number
}

export async function selectStretchOfMessages(
  sql: Sql,
  keyring: Keyring,
  workspaceId: string,
  conversationId: string,
  stretch: Stretch,
): Promise<ShownMessage[]> {
  const rows = await sql<ShownMessageRow[]>`
    select ${teamMessageColumns(sql, workspaceId)}
    from messages m
    where m.workspace_id = ${workspaceId}
      and m.conversation_id = ${conversationId}
      ${limits(sql, stretch, sql`m.occurred_at`, sql`m.id`)}`
  return rows.map((row) => openShownMessage(keyring, row))
}

export async function selectStretchOfNotes(
  sql: Sql,
  keyring: Keyring,
  workspaceId: string,
  conversationId: string,
  stretch: Stretch,
): Promise<Note[]> {
  const rows = await sql<NoteRow[]>`
    select ${noteColumns(sql, workspaceId)}
    from conversation_notes n
    where n.workspace_id = ${workspaceId}
      and n.conversation_id = ${conversationId}
      ${limits(sql, stretch, sql`n.created_at`, sql`n.id`)}`
  return rows.map((row) => openNote(keyring, row))
}

export async function selectStretchOfHandovers(
  sql: Sql,
  keyring: Keyring,
  workspaceId: string,
  conversationId: string,
  stretch: Stretch,
): Promise<Handover[]> {
  const next = limits(sql, stretch, sql`h.created_at`, sql`h.id`)
  return selectHandovers(sql, keyring, workspaceId, conversationId, next)
}

interface ActivityRow {
  id: string
  detail: ActivityDetail
  reason: ActivityReason | null
  actor_type: Actor['type']
  actor_id: string | null
  created_at: Date
}

export async function selectStretchOfActivities(
  sql: Sql,
  workspaceId: string,
  conversationId: string,
  stretch: Stretch,
): Promise<Activity[]> {
  const rows = await sql<ActivityRow[]>`
    select a.id, a.detail, a.reason, a.actor_type, a.actor_id, a.created_at
    from conversation_activities a
    where a.workspace_id = ${workspaceId}
      and a.conversation_id = ${conversationId}
      ${limits(sql, stretch, sql`a.created_at`, sql`a.id`)}`
  return rows.map((row) => ({
    id: row.id,
    detail: row.detail,
    reason: row.reason,
    actor: { type: row.actor_type, id: row.actor_id } as Actor,
    createdAt: row.created_at,
  }))
}

function limits(sql: Sql, { side, position, limit }: Stretch, at: Fragment, id: Fragment) {
  const from = position === null ? null : sql`(${position.at}::timestamptz, ${position.id}::uuid)`
  return side === 'before'
    ? sql`
      ${from === null ? sql`` : sql`and (${at}, ${id}) < ${from}`}
      order by ${at} desc, ${id} desc
      limit ${limit}`
    : sql`
      ${from === null ? sql`` : sql`and (${at}, ${id}) > ${from}`}
      order by ${at}, ${id}
      limit ${limit}`
}

/** The oldest of the newest so many customer messages: where a reader goes on. */
export async function findFirstUnread(
  sql: Sql,
  workspaceId: string,
  conversationId: string,
  unreadCount: number,
): Promise<TimelinePosition | null> {
  if (unreadCount === 0) return null
  const [row] = await sql<{ id: string; occurred_at: Date }[]>`
    select m.id, m.occurred_at
    from (
      select id, occurred_at
      from messages
      where workspace_id = ${workspaceId}
        and conversation_id = ${conversationId}
        and direction = 'inbound'
        and origin = 'live'
        and kind <> 'system'
      order by occurred_at desc
      limit ${unreadCount}
    ) m
    order by m.occurred_at
    limit 1`
  return row === undefined ? null : { id: row.id, at: row.occurred_at }
}

/** Where a message or a note of the conversation stands; null when it has none such. */
export async function findPosition(
  sql: Sql,
  workspaceId: string,
  conversationId: string,
  id: string,
): Promise<TimelinePosition | null> {
  const [row] = await sql<{ at: Date }[]>`
    select occurred_at as at
    from messages
    where workspace_id = ${workspaceId}
      and id = ${id}
      and conversation_id = ${conversationId}
    union all
    select created_at
    from conversation_notes
    where workspace_id = ${workspaceId}
      and id = ${id}
      and conversation_id = ${conversationId}`
  return row === undefined ? null : { id, at: row.at }
}
