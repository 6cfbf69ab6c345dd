import { decodeCursor, encodeCursor } from '../../base/cursor.ts'
import type { Sql } from '../../base/db.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { invalid } from '../../base/errors.ts'
import { isUuid } from '../../base/id.ts'
import { changesContext } from '../../events/record.ts'
import type { Actor } from '../../workspaces/actor.ts'
import { decryptLead, decryptPerson } from '../lead/encrypted-lead.ts'
import { fieldChanges } from '../lead/events.ts'
import { findLead } from '../lead/find-lead.ts'
import { decryptLeadNote } from '../lead/history.ts'
import type { Lead, LeadDeps, LeadUser } from '../lead/lead.ts'
import { hiddenWorkspaceId } from '../lead/queries.ts'
import { phonesOf } from '../lead/search-lines.ts'
import { decryptSnapshot } from '../merge/merge-records.ts'
import type { EntryKind, Position, TimelineEntry, TimelineFilter, TimelineSlice } from './entries.ts'
import { idBefore, newestFirst, positionOfId, timelineFilters } from './entries.ts'

/** Dependencies; other modules supply their part of a lead's timeline. */
export interface TimelineDeps extends LeadDeps {
  /** Returns messages and notes of conversations with these phones, in any of their variants. */
  conversationEntries(
    workspaceId: string,
    phones: readonly string[],
    kinds: { messages: boolean; notes: boolean },
    slice: TimelineSlice,
  ): Promise<TimelineEntry[]>
  /** Returns the form submissions of the lead. */
  submissionEntries(workspaceId: string, leadId: string, slice: TimelineSlice): Promise<TimelineEntry[]>
  /** Returns the tasks of the lead. */
  taskEntries(workspaceId: string, leadId: string, slice: TimelineSlice): Promise<TimelineEntry[]>
}

export interface TimelineRequest {
  limit: number
  before: Position | null
  filter: TimelineFilter | null
}

/** Returns a page of a lead's timeline, newest first. Throws 404 if the lead does not exist. */
export async function readLeadTimeline(
  deps: TimelineDeps,
  user: LeadUser,
  identifier: string,
  { limit, before, filter }: TimelineRequest,
): Promise<{ entries: TimelineEntry[]; nextCursor: string | null }> {
  const keyring = await deps.keyStore.keyring(user.workspaceId)
  const lead = decryptLead(keyring, await findLead(deps.db.sql, keyring, user, identifier))
  const kinds: ReadonlySet<EntryKind> | null = filter === null ? null : new Set(timelineFilters[filter])
  const found = await Promise.all(
    sourcesOf(deps, user.workspaceId, lead, { before, limit: limit + 1 }, (kind) => kinds?.has(kind) ?? true),
  )
  const entries = found.flat().sort(newestFirst)
  const shown = entries.slice(0, limit)
  const last = shown.at(-1)
  const nextCursor =
    entries.length > limit && last !== undefined ? encodeCursor([cursorKind, last.at.getTime(), last.id]) : null
  return { entries: shown, nextCursor }
}

function sourcesOf(
  { db: { sql }, keyStore, clock, conversationEntries, submissionEntries, taskEntries }: TimelineDeps,
  workspaceId: string,
  lead: Lead,
  slice: TimelineSlice,
  wantsKind: (kind: EntryKind) => boolean,
): Promise<TimelineEntry[]>[] {
  const sources: Promise<TimelineEntry[]>[] = []
  const query: TimelineQuery = { sql, workspaceId, lead, slice }
  const addDecrypting = (select: (query: TimelineQuery, keyring: Keyring) => Promise<TimelineEntry[]>) =>
    sources.push(keyStore.withKeyring(workspaceId, (keyring) => select(query, keyring)))
  const [messages, notes] = [wantsKind('message'), wantsKind('note')]
  const phones = phonesOf(lead)
  if (phones.length > 0 && (messages || notes))
    sources.push(conversationEntries(workspaceId, phones, { messages, notes }, slice))
  if (notes) addDecrypting(selectNotes)
  if (wantsKind('merged')) {
    const now = clock.now()
    addDecrypting((query, keyring) => selectMerges(query, keyring, now))
  }
  if (wantsKind('task')) sources.push(taskEntries(workspaceId, lead.id, slice))
  if (!wantsKind('fields')) return sources
  sources.push(selectStatuses(query), submissionEntries(workspaceId, lead.id, slice))
  addDecrypting(selectChanges)
  const creation = { id: lead.id, at: lead.createdAt }
  if (slice.before === null || newestFirst(slice.before, creation) < 0) sources.push(selectCreation(query))
  return sources
}

const cursorKind = 'lead-timeline'
const maxTimeMs = 253_402_300_799_999

/** Parses a timeline cursor. Throws `InvalidInput` for any other text. */
export function parseTimelineCursor(text: string): Position {
  const [kind, time, id, extra] = decodeCursor(text) ?? []
  const isTime = Number.isSafeInteger(time) && Math.abs(Number(time)) <= maxTimeMs
  if (kind !== cursorKind || !isTime || typeof id !== 'string' || !isUuid(id) || extra !== undefined) {
    throw invalid('cursor', 'is not a timeline cursor; send the nextCursor of a page', 'query')
  }
  return { at: new Date(Number(time)), id: id.toLowerCase() }
}

interface TimelineQuery {
  sql: Sql
  workspaceId: string
  lead: Lead
  slice: TimelineSlice
}

const actorColumn = (sql: Sql) => sql`
  case when actor_type is not null then json_build_object('type', actor_type, 'id', actor_id) end as actor`

/** Returns the SQL for the newest rows of the lead before the position. */
function newestRows({ sql, workspaceId, lead, slice }: TimelineQuery, column: string, condition = sql`true`) {
  const before = idBefore(slice.before)
  return sql`
    where workspace_id = ${hiddenWorkspaceId(sql, workspaceId)}
      and ${sql(column)} = ${lead.id}
      and ${condition}
      ${before === null ? sql`` : sql`and id < ${before}::uuid`}
    order by id desc
    limit ${slice.limit}`
}

/** Returns status changes, which are kept permanently. */
async function selectStatuses(query: TimelineQuery): Promise<TimelineEntry[]> {
  const { sql } = query
  const rows = await sql<{ id: string; actor: Actor | null; from: string; to: string }[]>`
    select id, ${actorColumn(sql)}, from_status as from, to_status as to
    from lead_status_changes
    ${newestRows(query, 'lead_id')}`
  return rows.map(({ id, actor, from, to }) => ({
    ...positionOfId(id),
    kind: 'status',
    actor,
    changes: [{ field: 'status', from, to }],
  }))
}

const kindOf = { 'lead.updated': 'fields', 'lead.deleted': 'deleted', 'lead.restored': 'restored' } as const

interface EventRow {
  id: string
  name: keyof typeof kindOf
  actor: Actor | null
  partOf: string | null
  changes: Buffer | null
}

/** Returns field changes, deletions and restores, while their events are kept. Merges have entries of their own. */
async function selectChanges(query: TimelineQuery, keyring: Keyring): Promise<TimelineEntry[]> {
  const { sql } = query
  const isIncluded = sql`
    (
      name in ('lead.deleted', 'lead.restored')
      or (name = 'lead.updated' and changes is not null and coalesce(part_of, '') not like 'merge:%')
    )
    and test_endpoint_id is null`
  const rows = await sql<EventRow[]>`
    select id, name, ${actorColumn(sql)}, part_of as "partOf", changes
    from events
    ${newestRows(query, 'subject_id', isIncluded)}`
  return rows.map(({ id, name, actor, partOf, changes }) => ({
    ...positionOfId(id),
    kind: kindOf[name],
    actor,
    partOf,
    changes: changes === null ? [] : JSON.parse(keyring.decryptText(changesContext(id), changes)),
  }))
}

/** Returns the creation of the lead; its author is known while the event is kept. */
async function selectCreation({ sql, workspaceId, lead }: TimelineQuery): Promise<TimelineEntry[]> {
  const { id, createdAt: at } = lead
  const [row] = await sql<{ name: string; actor: Actor | null; partOf: string | null }[]>`
    select name, ${actorColumn(sql)}, part_of as "partOf"
    from events
    where workspace_id = ${hiddenWorkspaceId(sql, workspaceId)}
      and subject_id = ${id}
    order by id
    limit 1`
  const { actor, partOf } = row?.name === 'lead.created' ? row : { actor: null, partOf: null }
  return [{ id, at, kind: 'created', actor, partOf }]
}

interface TimelineMergeRow {
  id: string
  actor: Actor | null
  otherId: string
  former: Buffer | null
  undoUntil: Date | null
  undoneAt: Date | null
  undoneBy: Actor | null
  /** Empty for a purged lead. */
  person: Buffer | null
}

/** Returns merges into the lead, and the values it got from them while the merge can be undone. */
async function selectMerges(query: TimelineQuery, keyring: Keyring, now: Date): Promise<TimelineEntry[]> {
  const { sql, workspaceId, lead } = query
  const rows = await sql<TimelineMergeRow[]>`
    select id, ${actorColumn(sql)}, merged_id as "otherId", former, undo_until as "undoUntil", undone_at as "undoneAt",
      case
        when undone_by_type is not null then json_build_object('type', undone_by_type, 'id', undone_by_id)
      end as "undoneBy",
      (
        select person
        from leads
        where workspace_id = ${hiddenWorkspaceId(sql, workspaceId)}
          and id = m.merged_id
      ) as person
    from lead_merges m
    ${newestRows(query, 'kept_id')}`
  return rows.map((row): TimelineEntry => {
    const { id, actor, otherId, undoUntil, undoneAt, undoneBy } = row
    const former = row.former === null ? null : decryptSnapshot(keyring, id, row.former)
    return {
      ...positionOfId(id),
      kind: 'merged',
      actor,
      changes: former === null ? [] : fieldChanges({ ...lead, ...former.before }, { ...lead, ...former.after }),
      merge: {
        otherId,
        otherName: nameOf(keyring, row),
        undoUntil: undoUntil !== null && undoUntil > now ? undoUntil : null,
        undone: undoneAt === null ? null : { at: undoneAt, actor: undoneBy },
      },
    }
  })
}

function nameOf(keyring: Keyring, { otherId, person }: TimelineMergeRow): string | null {
  if (person === null || person.length === 0) return null
  const [firstName, lastName] = decryptPerson(keyring, otherId, person)
  return [firstName, lastName].filter(Boolean).join(' ')
}

async function selectNotes(query: TimelineQuery, keyring: Keyring): Promise<TimelineEntry[]> {
  const { sql } = query
  const rows = await sql<{ id: string; actor: Actor | null; text: Buffer }[]>`
    select id, ${actorColumn(sql)}, text
    from lead_notes
    ${newestRows(query, 'lead_id')}`
  return rows.map(({ id, actor, text }) => ({
    ...positionOfId(id),
    kind: 'note',
    actor,
    text: decryptLeadNote(keyring, id, text),
  }))
}
