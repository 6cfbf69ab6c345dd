import type { Sql } from '../../base/db.ts'
import type { Keyring } from '../../base/sealing/keyring.ts'
import { changesPlace } from '../../events/record.ts'
import type { Actor } from '../../workspace/actor.ts'
import type { FieldChange } from '../lead/field-changes.ts'
import { openLeadNote } from '../lead/notes.ts'
import { anyWorkspace } from '../lead/queries.ts'
import { idBefore, type Position, placeOfId, type Stretch, type TimelineEntry } from './entries.ts'

interface ActorColumns {
  actor_type: Actor['type'] | null
  actor_id: string | null
}

const actorOf = ({ actor_type: type, actor_id: id }: ActorColumns): Actor | null =>
  type === null ? null : ({ type, id } as Actor)

/** The steps from status to status, which are kept for good. */
export async function selectStatusEntries(
  sql: Sql,
  workspaceId: string,
  leadId: string,
  { before, limit }: Stretch,
): Promise<TimelineEntry[]> {
  const rows = await sql<(ActorColumns & { id: string; from_status: string; to_status: string })[]>`
    select id, from_status, to_status, actor_type, actor_id
    from lead_status_changes
    where workspace_id = ${anyWorkspace(sql, workspaceId)}
      and lead_id = ${leadId}
      ${olderThan(sql, before)}
    order by id desc
    limit ${limit}`
  return rows.map((row) => ({
    ...placeOfId(row.id),
    kind: 'status',
    actor: actorOf(row),
    changes: [{ field: 'status', from: row.from_status, to: row.to_status }],
  }))
}

const kindOf = { 'lead.updated': 'fields', 'lead.deleted': 'deleted', 'lead.restored': 'restored' } as const

/** What else changed, for as long as the feed tells of it. */
export async function selectChangeEntries(
  sql: Sql,
  keyring: Keyring,
  workspaceId: string,
  leadId: string,
  { before, limit }: Stretch,
): Promise<TimelineEntry[]> {
  const rows = await sql<
    (ActorColumns & { id: string; name: keyof typeof kindOf; part_of: string | null; changes: Buffer | null })[]
  >`
    select id, name, actor_type, actor_id, part_of, changes
    from events
    where workspace_id = ${anyWorkspace(sql, workspaceId)}
      and subject_id = ${leadId}
      and (name in ('lead.deleted', 'lead.restored') or (name = 'lead.updated' and changes is not null))
      and test_endpoint_id is null
      ${olderThan(sql, before)}
    order by id desc
    limit ${limit}`
  return rows.map((row) => ({
    ...placeOfId(row.id),
    kind: kindOf[row.name],
    actor: actorOf(row),
    partOf: row.part_of,
    changes: row.changes === null ? [] : openChanges(keyring, row.id, row.changes),
  }))
}

const openChanges = (keyring: Keyring, id: string, sealed: Buffer): FieldChange[] =>
  JSON.parse(keyring.openText(changesPlace(id), sealed))

/** Who made it, for as long as the feed tells of it. */
export async function selectCreation(
  sql: Sql,
  workspaceId: string,
  { id, createdAt }: { id: string; createdAt: Date },
): Promise<TimelineEntry> {
  const [row] = await sql<(ActorColumns & { name: string; part_of: string | null })[]>`
    select name, actor_type, actor_id, part_of
    from events
    where workspace_id = ${anyWorkspace(sql, workspaceId)}
      and subject_id = ${id}
    order by id
    limit 1`
  const isIt = row?.name === 'lead.created'
  return { id, at: createdAt, kind: 'created', actor: isIt ? actorOf(row) : null, partOf: isIt ? row.part_of : null }
}

/** What the team wrote down about the lead. */
export async function selectNoteEntries(
  sql: Sql,
  keyring: Keyring,
  workspaceId: string,
  leadId: string,
  { before, limit }: Stretch,
): Promise<TimelineEntry[]> {
  const rows = await sql<(ActorColumns & { id: string; text: Buffer })[]>`
    select id, text, actor_type, actor_id
    from lead_notes
    where workspace_id = ${anyWorkspace(sql, workspaceId)}
      and lead_id = ${leadId}
      ${olderThan(sql, before)}
    order by id desc
    limit ${limit}`
  return rows.map((row) => ({
    ...placeOfId(row.id),
    kind: 'note',
    actor: actorOf(row),
    text: openLeadNote(keyring, row.id, row.text),
  }))
}

function olderThan(sql: Sql, before: Position | null) {
  const id = idBefore(before)
  return id === null ? sql`` : sql`and id < ${id}::uuid`
}
