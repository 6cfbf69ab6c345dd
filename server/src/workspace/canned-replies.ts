import type { Clock } from '../base/clock.ts'
import type { Db, Sql } from '../base/db.ts'
import { invalid } from '../base/errors.ts'
import { newId } from '../base/id.ts'
import type { Member } from '../team/member.ts'
import { addItem, changeItem, deleteItem, type OwnedList } from './owned-list.ts'

/** What `{{…}}` may name; the page knows the values. */
export const placeholders = [
  'contact.name',
  'contact.first_name',
  'contact.phone',
  'me.name',
  'workspace.name',
] as const

const cannedReplies: OwnedList = {
  item: 'canned_reply',
  table: (sql) => sql`canned_replies`,
  most: 500,
  isFull: 'A workspace has at most 500 canned replies. Delete one first.',
  isMissing: 'Canned reply not found',
  unique: {
    constraint: 'canned_replies_shortcut_key',
    field: 'shortcut',
    isTaken: 'A canned reply with this shortcut already exists',
  },
}

export interface CannedReplyRow {
  id: string
  shortcut: string
  text: string
  created_at: Date
  updated_at: Date
}

interface Deps {
  db: Db
  clock: Clock
}

export async function listCannedReplies(sql: Sql, workspaceId: string): Promise<CannedReplyRow[]> {
  return sql<CannedReplyRow[]>`
    select id, shortcut, text, created_at, updated_at
    from canned_replies
    where workspace_id = ${workspaceId}
    order by shortcut`
}

/** At most 500 a workspace, each shortcut once (409). */
export async function createCannedReply(
  { db, clock }: Deps,
  by: Member,
  { shortcut, text }: { shortcut: string; text: string },
): Promise<CannedReplyRow> {
  checkPlaceholders(text)
  const now = clock.now()
  const reply: CannedReplyRow = { id: newId(now), shortcut, text, created_at: now, updated_at: now }
  await db.tx((tx) =>
    addItem(
      tx,
      cannedReplies,
      { by, id: reply.id, now },
      () => tx`
        insert into canned_replies (workspace_id, id, shortcut, text, created_at, updated_at)
        values (${by.workspaceId}, ${reply.id}, ${shortcut}, ${text}, ${now}, ${now})`,
    ),
  )
  return reply
}

export async function changeCannedReply(
  { db, clock }: Deps,
  by: Member,
  id: string,
  { shortcut, text }: { shortcut?: string; text?: string },
): Promise<CannedReplyRow> {
  if (text !== undefined) checkPlaceholders(text)
  const now = clock.now()
  return db.tx((tx) =>
    changeItem(
      tx,
      cannedReplies,
      { by, id, now },
      () => tx<CannedReplyRow[]>`
        update canned_replies
        set shortcut = coalesce(${shortcut ?? null}::text, shortcut),
          text = coalesce(${text ?? null}::text, text),
          updated_at = ${now}
        where workspace_id = ${by.workspaceId}
          and id = ${id}
        returning id, shortcut, text, created_at, updated_at`,
    ),
  )
}

export async function deleteCannedReply({ db, clock }: Deps, by: Member, id: string): Promise<void> {
  await db.tx((tx) => deleteItem(tx, cannedReplies, { by, id, now: clock.now() }))
}

// A placeholder that nobody fills would be sent to a customer as it stands.
function checkPlaceholders(text: string): void {
  const named = [...text.matchAll(/\{\{([^{}]*)\}\}/g)].map(([, name = '']) => name.trim())
  const unknown = named.find((name) => !placeholders.some((known) => known === name))
  if (unknown !== undefined) throw invalid('text', `may hold {{${placeholders.join('}}, {{')}}} only`)
}
