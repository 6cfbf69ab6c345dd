import { decodeCursor, encodeCursor } from '../../base/cursor.ts'
import type { Sql } from '../../base/db.ts'
import { invalid } from '../../base/errors.ts'
import { isUuid } from '../../base/id.ts'
import type { Keyring } from '../../base/sealing/keyring.ts'
import { changesPlace } from '../../events/record.ts'
import type { Actor } from '../../workspace/actor.ts'
import { type FieldChange, fieldChanges } from '../lead/events.ts'
import { openLeadNote } from '../lead/history.ts'
import { findLead } from '../lead/identify.ts'
import type { Lead, LeadDeps, LeadUser } from '../lead/lead.ts'
import { anyWorkspace } from '../lead/queries.ts'
import { openLead, openPerson } from '../lead/sealed.ts'
import { otherPhones } from '../lead/search-lines.ts'
import { openFormer } from '../merge/merges.ts'
import { listed } from '../merge/plan-merge.ts'
import type { EntryKind, Position, Stretch, TimelineEntry, TimelineFilter } from './entries.ts'
import { idBefore, newestFirst, placeOfId, timelineFilters } from './entries.ts'

/** What other rooms know of a lead. */
export interface TimelineDeps extends LeadDeps {
  /** What was said in the conversations with phones, in any of their variants, and noted there. */
  talkOf(
    workspaceId: string,
    phones: readonly string[],
    wanted: { messages: boolean; notes: boolean },
    stretch: Stretch,
  ): Promise<TimelineEntry[]>
  /** What forms were sent by the lead. */
  submissionsOf(workspaceId: string, leadId: string, stretch: Stretch): Promise<TimelineEntry[]>
}

export interface TimelineRequest {
  limit: number
  before: Position | null
  filter: TimelineFilter | null
}

/** What was said, noted and changed of a lead, newest first. Throws 404 for a lead that is not there. */
export async function readLeadTimeline(
  deps: TimelineDeps,
  user: LeadUser,
  identifier: string,
  { limit, before, filter }: TimelineRequest,
): Promise<{ entries: TimelineEntry[]; nextCursor: string | null }> {
  const keyring = await deps.vault.keyring(user.workspaceId)
  const lead = openLead(keyring, await findLead(deps.db.sql, keyring, user, identifier))
  const wanted: ReadonlySet<EntryKind> | null = filter === null ? null : new Set(timelineFilters[filter])
  const found = await Promise.all(
    sourcesOf(deps, user.workspaceId, lead, { before, limit: limit + 1 }, (kind) => wanted?.has(kind) ?? true),
  )
  const entries = found.flat().sort(newestFirst)
  const shown = entries.slice(0, limit)
  const last = shown.at(-1)
  const nextCursor = entries.length > limit && last !== undefined ? writeCursor(last) : null
  return { entries: shown, nextCursor }
}

function sourcesOf(
  deps: TimelineDeps,
  workspaceId: string,
  lead: Lead,
  stretch: Stretch,
  wants: (kind: EntryKind) => boolean,
): Promise<TimelineEntry[]>[] {
  const { sql } = deps.db
  const sources: Promise<TimelineEntry[]>[] = []
  const [messages, notes] = [wants('message'), wants('note')]
  const phones = [...listed(lead.phone), ...otherPhones(lead)]
  if (phones.length > 0 && (messages || notes)) {
    sources.push(deps.talkOf(workspaceId, phones, { messages, notes }, stretch))
  }
  if (notes) {
    sources.push(
      deps.vault.withKeyring(workspaceId, (keyring) => selectNoteEntries(sql, keyring, workspaceId, lead.id, stretch)),
    )
  }
  if (wants('merged')) {
    const now = deps.clock.now()
    sources.push(
      deps.vault.withKeyring(workspaceId, (keyring) =>
        selectMergeEntries(sql, keyring, workspaceId, lead, stretch, now),
      ),
    )
  }
  if (!wants('fields')) return sources
  sources.push(
    selectStatusEntries(sql, workspaceId, lead.id, stretch),
    deps.vault.withKeyring(workspaceId, (keyring) => selectChangeEntries(sql, keyring, workspaceId, lead.id, stretch)),
    deps.submissionsOf(workspaceId, lead.id, stretch),
  )
  const creation = { id: lead.id, at: lead.createdAt }
  if (stretch.before === null || newestFirst(stretch.before, creation) < 0) {
    sources.push(selectCreation(sql, workspaceId, lead).then((entry) => [entry]))
  }
  return sources
}

const cursorKind = 'lead-timeline'
const lastMs = 253_402_300_799_999

const writeCursor = ({ at, id }: Position): string => encodeCursor([cursorKind, at.getTime(), id])

/** Throws `InvalidInput` for what no page has given. */
export function readTimelineCursor(text: string): Position {
  const [kind, time, id, extra] = decodeCursor(text) ?? []
  const isTime = Number.isSafeInteger(time) && Math.abs(Number(time)) <= lastMs
  if (kind !== cursorKind || !isTime || typeof id !== 'string' || !isUuid(id) || extra !== undefined) {
    throw invalid('cursor', 'is not a cursor of a timeline: send the nextCursor of a page', 'query')
  }
  return { at: new Date(Number(time)), id: id.toLowerCase() }
}

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

/** What else changed, for as long as the feed tells of it. What a merge changed is told with the merge. */
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
      and (
        name in ('lead.deleted', 'lead.restored')
        or (name = 'lead.updated' and changes is not null and coalesce(part_of, '') not like 'merge:%')
      )
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

/** Which leads were merged into it, and what it got from them for as long as that can be undone. */
export async function selectMergeEntries(
  sql: Sql,
  keyring: Keyring,
  workspaceId: string,
  lead: Lead,
  { before, limit }: Stretch,
  now: Date,
): Promise<TimelineEntry[]> {
  const rows = await sql<ToldMergeRow[]>`
    select id, merged_id, former, actor_type, actor_id, undo_until, undone_at, undone_by_type, undone_by_id, (
        select person
        from leads
        where workspace_id = ${anyWorkspace(sql, workspaceId)}
          and id = m.merged_id
      ) as person
    from lead_merges m
    where workspace_id = ${anyWorkspace(sql, workspaceId)}
      and kept_id = ${lead.id}
      ${olderThan(sql, before)}
    order by id desc
    limit ${limit}`
  return rows.map((row) => mergeEntry(keyring, lead, row, now))
}

interface ToldMergeRow extends ActorColumns {
  id: string
  merged_id: string
  former: Buffer | null
  undo_until: Date | null
  undone_at: Date | null
  undone_by_type: Actor['type'] | null
  undone_by_id: string | null
  /** Empty of a lead that was purged. */
  person: Buffer | null
}

function mergeEntry(keyring: Keyring, lead: Lead, row: ToldMergeRow, now: Date): TimelineEntry {
  const { undone_at: undoneAt, undone_by_type: actor_type, undone_by_id: actor_id, undo_until: undoUntil } = row
  const former = row.former === null ? null : openFormer(keyring, row.id, row.former)
  return {
    ...placeOfId(row.id),
    kind: 'merged',
    actor: actorOf(row),
    changes: former === null ? [] : fieldChanges({ ...lead, ...former.before }, { ...lead, ...former.after }),
    merge: {
      otherId: row.merged_id,
      otherName: nameOf(keyring, row),
      undoUntil: undoUntil !== null && undoUntil > now ? undoUntil : null,
      undone: undoneAt === null ? null : { at: undoneAt, actor: actorOf({ actor_type, actor_id }) },
    },
  }
}

function nameOf(keyring: Keyring, { merged_id: id, person }: ToldMergeRow): string | null {
  if (person === null || person.length === 0) return null
  const [firstName, lastName] = openPerson(keyring, id, person)
  return [firstName, lastName].filter(Boolean).join(' ')
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
