import type { Clock } from '../base/clock.ts'
import { type Db, type Sql, type Tx, violates } from '../base/db.ts'
import { type ApiError, conflict, invalid, notFound } from '../base/errors.ts'
import { newId } from '../base/id.ts'
import { recordAudit } from '../team/audit.ts'
import type { Member } from '../team/member.ts'
import { lockWorkspace } from './workspace.ts'

/** What `{{…}}` may name; the page knows the values. */
export const placeholders = [
  'contact.name',
  'contact.first_name',
  'contact.phone',
  'me.name',
  'workspace.name',
] as const

const maxReplies = 500

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
  return db.tx(async (tx) => {
    const now = clock.now()
    await refuseTooMany(tx, by.workspaceId)
    const row: CannedReplyRow = { id: newId(now), shortcut, text, created_at: now, updated_at: now }
    await uniquely(
      () => tx`
        insert into canned_replies (workspace_id, id, shortcut, text, created_at, updated_at)
        values (${by.workspaceId}, ${row.id}, ${shortcut}, ${text}, ${now}, ${now})`,
    )
    await recordChange(tx, by, 'canned_reply.created', row.id, now)
    return row
  })
}

export async function changeCannedReply(
  { db, clock }: Deps,
  by: Member,
  id: string,
  { shortcut, text }: { shortcut?: string; text?: string },
): Promise<CannedReplyRow> {
  if (text !== undefined) checkPlaceholders(text)
  return db.tx(async (tx) => {
    const now = clock.now()
    const [row] = await uniquely(
      () => tx<CannedReplyRow[]>`
        update canned_replies
        set shortcut = coalesce(${shortcut ?? null}::text, shortcut),
          text = coalesce(${text ?? null}::text, text),
          updated_at = ${now}
        where workspace_id = ${by.workspaceId}
          and id = ${id}
        returning id, shortcut, text, created_at, updated_at`,
    )
    if (row === undefined) throw replyNotFound()
    await recordChange(tx, by, 'canned_reply.changed', row.id, now)
    return row
  })
}

export async function deleteCannedReply({ db, clock }: Deps, by: Member, id: string): Promise<void> {
  await db.tx(async (tx) => {
    const deleted = await tx`
      delete from canned_replies
      where workspace_id = ${by.workspaceId}
        and id = ${id}`
    if (deleted.count === 0) throw replyNotFound()
    await recordChange(tx, by, 'canned_reply.deleted', id.toLowerCase(), clock.now())
  })
}

// A placeholder that nobody fills would be sent to a customer as it stands.
function checkPlaceholders(text: string): void {
  const named = [...text.matchAll(/\{\{([^{}]*)\}\}/g)].map(([, name = '']) => name.trim())
  const unknown = named.find((name) => !placeholders.some((known) => known === name))
  if (unknown !== undefined) throw invalid('text', `may hold {{${placeholders.join('}}, {{')}}} only`)
}

// The lock makes counting and adding one step: two at once cannot both take the last place.
async function refuseTooMany(tx: Tx, workspaceId: string): Promise<void> {
  await lockWorkspace(tx, workspaceId)
  const [row] = await tx<{ count: number }[]>`
    select count(*) as count
    from canned_replies
    where workspace_id = ${workspaceId}`
  if ((row?.count ?? 0) >= maxReplies) {
    throw conflict(`A workspace has at most ${maxReplies} canned replies. Delete one first.`)
  }
}

async function uniquely<T>(write: () => PromiseLike<T>): Promise<T> {
  try {
    return await write()
  } catch (error) {
    throw violates(error, 'canned_replies_shortcut_key')
      ? conflict('A canned reply with this shortcut already exists', { field: 'shortcut' }, error)
      : error
  }
}

function recordChange(tx: Tx, by: Member, action: string, id: string, now: Date): Promise<void> {
  return recordAudit(tx, { scopeId: by.workspaceId, actor: by.actor, action, target: `canned_reply:${id}` }, now)
}

const replyNotFound = (): ApiError => notFound('Canned reply not found')
