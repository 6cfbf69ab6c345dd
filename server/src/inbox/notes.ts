import type { Sql, Tx } from '../base/db.ts'
import { newId } from '../base/id.ts'
import type { Keyring } from '../base/keyring.ts'
import type { Actor } from '../workspace/actor.ts'

export interface Note {
  id: string
  text: string
  actor: Actor
  createdAt: Date
}

interface NoteRow {
  id: string
  text: Buffer
  actor_type: Actor['type']
  actor_id: string | null
  created_at: Date
}

const place = (id: string) => ({ table: 'conversation_notes', row: id, column: 'text' })

export async function addNote(
  tx: Tx,
  keyring: Keyring,
  workspaceId: string,
  conversationId: string,
  { text, actor }: Pick<Note, 'text' | 'actor'>,
  now: Date,
): Promise<Note> {
  const id = newId(now)
  await tx`
    insert into conversation_notes (workspace_id, id, conversation_id, text, actor_type, actor_id, created_at)
    values (
      ${workspaceId}, ${id}, ${conversationId}, ${keyring.seal(place(id), text)}, ${actor.type}, ${actor.id}, ${now}
    )`
  return { id, text, actor, createdAt: now }
}

/** The newest 200, oldest first. */
export async function listNotes(
  sql: Sql,
  keyring: Keyring,
  workspaceId: string,
  conversationId: string,
): Promise<Note[]> {
  const rows = await sql<NoteRow[]>`
    select id, text, actor_type, actor_id, created_at
    from conversation_notes
    where workspace_id = ${workspaceId}
      and conversation_id = ${conversationId}
    order by id desc
    limit 200`
  return rows.reverse().map((row) => ({
    id: row.id,
    text: keyring.openText(place(row.id), row.text),
    actor: { type: row.actor_type, id: row.actor_id } as Actor,
    createdAt: row.created_at,
  }))
}
