import { andWorkspace } from '../../base/citus/distributed-sql.ts'
import { type Sql, type Tx, violates } from '../../base/db.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { invalid } from '../../base/errors.ts'
import { newId } from '../../base/id.ts'
import { recordOptInEvents } from '../../events/record.ts'
import { recordNotifications } from '../../notifications/record-notifications.ts'
import type { Actor } from '../../workspaces/actor.ts'
import { findNonMembers } from '../../workspaces/workspace.ts'
import { withUpdatedAt } from '../conversation/change.ts'
import { commitChange } from '../conversation/commit-change.ts'
import {
  type ChangeDeps,
  type ChangeTx,
  type ConversationRef,
  noteKeyReused,
  publishConversations,
  publishMentions,
  type Scope,
  type WorkspaceSql,
} from '../conversation/conversation.ts'
import { noteAdded } from '../conversation/opt-in-events.ts'
import { requireLocked } from '../conversation/queries.ts'

export interface Note {
  id: string
  text: string
  mentions: string[]
  actor: Actor
  createdAt: Date
}

export interface NoteRow {
  id: string
  text: Buffer
  mentions: string[]
  actor_type: Actor['type']
  actor_id: string | null
  created_at: Date
}

const encryptionContext = (id: string) => ({ table: 'conversation_notes', row: id, column: 'text' })

export const noteColumns = (sql: Sql, workspaceId: string) => sql`
  n.id,
  n.text,
  array(
    select m.user_id
    from note_mentions m
    where m.workspace_id = n.workspace_id
      and m.note_id = n.id
      ${andWorkspace(sql, workspaceId, 'm')}
    order by m.user_id
  ) as mentions,
  n.actor_type,
  n.actor_id,
  n.created_at`

export async function insertNote(
  work: ChangeTx,
  conversation: ConversationRef,
  { text, mentions, actor, key = null }: Pick<Note, 'text' | 'mentions' | 'actor'> & { key?: string | null },
): Promise<void> {
  const { tx, keyring, workspaceId, now } = work
  const { id: conversationId } = conversation
  const id = newId(now)
  const insert = tx`
    insert into conversation_notes (
      workspace_id, id, conversation_id, text, actor_type, actor_id, idempotency_key, created_at
    )
    values (
      ${workspaceId}, ${id}, ${conversationId}, ${keyring.encrypt(encryptionContext(id), text)}, ${actor.type}, ${actor.id}, ${key},
      ${now}
    )`
  await recordOptInEvents(work, [noteAdded(conversation, { id, text, mentions, actor }, now)], insert)
  publishConversations(tx, workspaceId, [conversationId])
  if (mentions.length === 0) return
  for (const userId of mentions) publishMentions(tx, workspaceId, userId)
  await tx`
    insert into note_mentions (workspace_id, note_id, user_id, created_at)
    select ${workspaceId}::uuid, ${id}::uuid, user_id, ${now}
    from unnest(${mentions}::uuid[]) as u (user_id)`
  const mentioned = { kind: 'mention' as const, cause: id, conversationId, actor }
  const notifications = mentions.map((userId) => ({ ...mentioned, userId }))
  await recordNotifications(tx, workspaceId, notifications, now)
}

/** Returns the note that the author added with this key, with its current conversation. */
async function findNoteByKey({ sql, keyring, workspaceId }: WorkspaceSql, actorId: string | null, key: string) {
  const [row] = await sql<(NoteRow & { conversation_id: string })[]>`
    select ${noteColumns(sql, workspaceId)}, n.conversation_id
    from conversation_notes n
    where n.workspace_id = ${workspaceId}
      and n.actor_id = ${actorId}
      and n.idempotency_key = ${key}`
  return row && { ...decryptNote(keyring, row), conversationId: row.conversation_id }
}

/** Returns the newest 200 notes, oldest first. */
export async function listNotes({ sql, keyring, workspaceId }: WorkspaceSql, conversationId: string): Promise<Note[]> {
  const rows = await sql<NoteRow[]>`
    select ${noteColumns(sql, workspaceId)}
    from conversation_notes n
    where n.workspace_id = ${workspaceId}
      and n.conversation_id = ${conversationId}
    order by n.id desc
    limit 200`
  return rows.reverse().map((row) => decryptNote(keyring, row))
}

export function decryptNote(keyring: Keyring, row: NoteRow): Note {
  return {
    id: row.id,
    text: keyring.decryptText(encryptionContext(row.id), row.text),
    mentions: row.mentions,
    actor: { type: row.actor_type, id: row.actor_id } as Actor,
    createdAt: row.created_at,
  }
}

interface NewNote {
  conversationId: string
  text: string
  mentions: readonly string[]
  /** Idempotency key: the author adds at most one note with it. */
  key: string | null
}

/**
 * Adds a note and returns whether it existed already. Throws 404 outside the scope, 400 for mentions of non-members,
 * 422 if the key was used for another note.
 */
export async function addTeamNote(
  deps: ChangeDeps,
  scope: Scope,
  actor: Actor,
  note: NewNote,
): Promise<{ isRepeat: boolean }> {
  const { workspaceId } = scope
  return deps.keyStore.withKeyring(workspaceId, async (keyring) => {
    const add = () =>
      deps.db.tx((tx) => addOnce({ tx, keyring, workspaceId, now: deps.clock.now() }, scope, actor, note))
    try {
      return await add()
    } catch (error) {
      // Another request used the same key in another conversation at the same time; the retry sees its note.
      if (violates(error, 'conversation_notes_key')) return add()
      throw error
    }
  })
}

async function addOnce(work: ChangeTx, scope: Scope, actor: Actor, { conversationId, text, mentions, key }: NewNote) {
  const { tx, workspaceId, now } = work
  const before = await requireLocked(work, scope, conversationId)
  const earlier = key === null ? undefined : await findNoteByKey({ ...work, sql: tx }, actor.id, key)
  if (earlier !== undefined) {
    const isSame =
      earlier.conversationId === before.id && earlier.text === text && isSameSet(earlier.mentions, mentions)
    if (!isSame) throw noteKeyReused()
    return { isRepeat: true }
  }
  const mentionedIds = await checkMentions(tx, workspaceId, mentions)
  await insertNote(work, before, { text, mentions: mentionedIds, actor, key })
  // A note is part of the conversation that the team sees.
  const change = { conversation: withUpdatedAt(before, now), events: [] }
  await commitChange(work, before, change, { actor, reason: null })
  return { isRepeat: false }
}

const isSameSet = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === new Set(b).size && a.every((one) => b.includes(one))

async function checkMentions(tx: Tx, workspaceId: string, userIds: readonly string[]): Promise<string[]> {
  const unique = [...new Set(userIds)]
  const nonMembers = await findNonMembers(tx, workspaceId, unique)
  if (nonMembers.length > 0) throw invalid('mentions', 'must be members of the workspace')
  return unique
}
