import type { Db, Sql } from '../../../base/db.ts'
import type { KeyStore } from '../../../base/encryption/key-store.ts'
import type { Keyring } from '../../../base/encryption/keyring.ts'
import { sequenceEvents } from '../../../events/sequence.ts'
import { decryptPerson, type LeadRow } from '../../lead/encrypted-lead.ts'
import { isLeadEventOf } from '../../lead/events.ts'
import { customTexts } from '../sorted/decrypt-and-sort.ts'
import { leadText } from './indexed-text.ts'
import { valuesText } from './lead-values.ts'
import type { IndexedLead, IndexShape, MemoryIndex } from './memory-index.ts'
import { putLead, removeErased, removeLead } from './memory-index.ts'
import type { IndexContents } from './segment.ts'

/** Index and its position in the event feed of its workspace. */
export interface FollowedIndex {
  workspaceId: string
  index: MemoryIndex
  shape: IndexShape
  /** Feed position: all events up to it are applied. */
  position: number
  /** `seq` of applied events that have no position yet. */
  appliedSeqs: Set<number>
}

export interface FollowDeps {
  db: Db
  keyStore: KeyStore
}

/** `level`: contains everything committed before. `behind`: too many changes for a request. `lost`: must be rebuilt. */
export type Progress = 'level' | 'behind' | 'lost'

interface ChangeRow extends Omit<IndexRow, 'id'> {
  lastPosition: number
  removedTo: number
  /** Null if nothing has changed. */
  seq: number | null
  position: number | null
  /** Lead of the event. */
  subjectId: string
  /** Null if the event is already applied, or the lead was erased. */
  id: string | null
}

// Maximum number of changes that one request waits for.
const maxChanges = 1000
/** Number of events without a position that may be read repeatedly. */
export const maxUnsequencedEvents = 200

/**
 * Applies everything committed before the call. One statement, so one snapshot, returns changed leads and their current
 * state. Every change of a lead records an event in its transaction, and events get positions after the commit: events
 * up to the stored position, and events applied without one, are therefore complete.
 */
export async function catchUp({ db, keyStore }: FollowDeps, followed: FollowedIndex): Promise<Progress> {
  const rows = await selectChanges(db.sql, followed)
  const [first] = rows
  if (first === undefined) return 'lost'
  if (followed.position < first.removedTo) return 'lost'
  const changes = rows.filter((row) => row.seq !== null)
  if (changes.length > maxChanges) return 'behind'
  const unseen = changes.filter(({ seq }) => !followed.appliedSeqs.has(seq ?? 0))
  await applyChanges(keyStore, followed, unseen)
  followed.position = first.lastPosition
  followed.appliedSeqs = new Set(
    changes.flatMap(({ seq, position }) => (seq === null || position !== null ? [] : [seq])),
  )
  return 'level'
}

async function selectChanges(sql: Sql, { workspaceId, position, appliedSeqs, shape }: FollowedIndex) {
  const ofLeads = isLeadEventOf(sql, workspaceId)
  return sql<ChangeRow[]>`
    select
      coalesce(f.last_position, 0) as "lastPosition",
      coalesce(f.removed_to, 0) as "removedTo",
      e.seq,
      e.position,
      e.subject_id as "subjectId",
      c.*
    from (select 1) as one
    left join event_feeds f on f.workspace_id = ${workspaceId}
    left join (
      (select seq, position, subject_id from events where ${ofLeads} and position > ${position} limit ${maxChanges + 1})
      union all
      (select seq, position, subject_id from events where ${ofLeads} and position is null limit ${maxChanges + 1})
    ) as e on true
    left join lateral (
      select ${indexColumns(sql, shape.contents)}
      from leads l
      where l.workspace_id = ${workspaceId}
        and l.id = e.subject_id
        and e.seq <> all (${[...appliedSeqs].map(String)}::bigint[])
      limit 1
    ) as c on true`
}

async function applyChanges(keyStore: KeyStore, followed: FollowedIndex, rows: readonly ChangeRow[]): Promise<void> {
  const { workspaceId, index, shape } = followed
  const latest = new Map<string, IndexRow>()
  const erased = new Set<string>()
  for (const { id, subjectId, ...row } of rows) {
    if (id === null) erased.add(subjectId)
    else latest.set(id, { ...row, id })
  }
  const changed = [...latest.values()]
  const live = changed.filter((row) => row.deletedAt === null)
  for (const lead of await decryptRows(keyStore, workspaceId, live, shape.contents)) putLead(index, shape, lead)
  for (const { id, createdAt, deletedAt } of changed) {
    if (deletedAt !== null) removeLead(index, { id, created: createdAt.getTime() })
  }
  for (const id of erased) removeErased(index, id)
}

/** Applies any number of changes, in batches. */
export async function catchUpFully(deps: FollowDeps, followed: FollowedIndex): Promise<'level' | 'lost'> {
  for (;;) {
    await sequenceAll(deps.db, followed.workspaceId)
    const rows = await selectNext(deps.db.sql, followed)
    if (followed.position < (await readFeedState(deps.db.sql, followed.workspaceId)).removedTo) return 'lost'
    await applyChanges(deps.keyStore, followed, rows)
    followed.position = rows.at(-1)?.position ?? followed.position
    if (rows.length === maxChanges) continue
    const progress = await catchUp(deps, followed)
    if (progress !== 'behind') return progress
  }
}

async function selectNext(sql: Sql, { workspaceId, position, shape }: FollowedIndex): Promise<ChangeRow[]> {
  return sql<ChangeRow[]>`
    select e.seq, e.position, e.subject_id as "subjectId", c.*
    from (
      select seq, position, subject_id
      from events
      where ${isLeadEventOf(sql, workspaceId)}
        and position > ${position}
      order by position
      limit ${maxChanges}
    ) as e
    left join lateral (
      select ${indexColumns(sql, shape.contents)}
      from leads l
      where l.workspace_id = ${workspaceId}
        and l.id = e.subject_id
      limit 1
    ) as c on true
    order by e.position`
}

/** Assigns positions to the events of the workspace; a few new ones may be without one afterwards. */
export async function sequenceAll(db: Db, workspaceId: string): Promise<void> {
  while ((await sequenceEvents(db, workspaceId)) >= maxUnsequencedEvents);
}

export async function readFeedState(
  sql: Sql,
  workspaceId: string,
): Promise<{ lastPosition: number; removedTo: number }> {
  const [feed] = await sql<{ lastPosition: number; removedTo: number }[]>`
    select last_position as "lastPosition", removed_to as "removedTo"
    from event_feeds
    where workspace_id = ${workspaceId}`
  return feed ?? { lastPosition: 0, removedTo: 0 }
}

/** Columns of a lead that every index needs. */
type IndexRow = Pick<
  LeadRow,
  'id' | 'status' | 'priority' | 'source' | 'adPlatform' | 'assignedTo' | 'createdAt' | 'updatedAt' | 'deletedAt'
> &
  Partial<NamedColumns> & { values?: ValueColumns | null }

/** Columns for indexes of texts and values. */
type NamedColumns = Pick<LeadRow, 'uniqueCode' | 'externalRef' | 'person'>

/** Columns for indexes of values. */
interface ValueColumns {
  estimated: number | null
  actual: number | null
  /** Base64. */
  custom: string | null
  notes: boolean
}

export type OptionalContents = IndexContents | undefined

const indexColumns = (sql: Sql, contents: OptionalContents) => sql`
  l.id, l.status, l.priority, l.source, l.ad_platform as "adPlatform", l.assigned_to as "assignedTo",
  l.created_at as "createdAt", l.updated_at as "updatedAt", l.deleted_at as "deletedAt"
  ${contents === 'columns' ? sql`` : namedColumns(sql)}
  ${contents === 'values' ? valueColumns(sql) : sql``}`

const namedColumns = (sql: Sql) => sql`, l.unique_code as "uniqueCode", l.external_ref as "externalRef", l.person`

const valueColumns = (sql: Sql) => sql`,
  json_build_object(
    'estimated', l.estimated_value,
    'actual', l.actual_value,
    'custom', encode(l.custom_fields, 'base64'),
    'notes', l.notes is not null
  ) as values`

/** Converts rows of live leads to index entries. */
async function decryptRows(
  keyStore: KeyStore,
  workspaceId: string,
  rows: readonly IndexRow[],
  contents: OptionalContents,
): Promise<IndexedLead[]> {
  if (rows.length === 0) return []
  if (contents === 'columns') return rows.map((row) => ({ ...plainOf(row), text: '' }))
  return keyStore.withKeyring(workspaceId, (keyring) => rows.map((row) => decryptRow(keyring, row)))
}

const plainOf = (row: IndexRow) => ({
  id: row.id,
  created: row.createdAt.getTime(),
  updated: row.updatedAt.getTime(),
  status: row.status,
  priority: row.priority,
  source: row.source,
  adPlatform: row.adPlatform,
  assignee: row.assignedTo,
})

function decryptRow(keyring: Keyring, row: IndexRow): IndexedLead {
  const { uniqueCode, externalRef = null, person, values } = row
  if (uniqueCode === undefined || person === undefined) throw new Error('Lead row has no name columns')
  const [firstName, lastName, email, phone, contacts, formerPhones] = decryptPerson(keyring, row.id, person)
  const texts = { firstName, lastName, email, phone, contacts, formerPhones, uniqueCode, externalRef }
  if (values == null) return { ...plainOf(row), text: leadText(texts) }
  const custom = values.custom === null ? null : Buffer.from(values.custom, 'base64')
  return {
    ...plainOf(row),
    estimated: values.estimated,
    actual: values.actual,
    text: valuesText({ ...texts, hasNotes: values.notes, customTexts: customTexts(keyring, row.id, custom) }),
  }
}

/** Counts the live leads of a workspace, up to `atMost`. */
export async function countLive(sql: Sql, workspaceId: string, atMost: number): Promise<number> {
  const [row] = await sql<{ live: number }[]>`
    select count(*)::integer as live
    from (
      select
      from leads
      where workspace_id = ${workspaceId}
        and deleted_at is null
      limit ${atMost}
    ) as l`
  return row?.live ?? 0
}

const batch = 2000

/** Yields all live leads, oldest first, in batches. A lead changed meanwhile is read before or after its change. */
export async function* readLive(
  sql: Sql,
  keyStore: KeyStore,
  workspaceId: string,
  contents: OptionalContents,
): AsyncGenerator<IndexedLead[]> {
  const select = (last: IndexRow | undefined) => sql<IndexRow[]>`
    select ${indexColumns(sql, contents)}
    from leads l
    where l.workspace_id = ${workspaceId}
      and l.deleted_at is null
      ${last === undefined ? sql`` : sql`and (l.created_at, l.id) > (${last.createdAt}::timestamptz, ${last.id}::uuid)`}
    order by l.created_at, l.id
    limit ${batch}`
  let next = select(undefined).execute()
  for (;;) {
    const rows = await next
    // The database reads the next batch while this one is decrypted.
    if (rows.length === batch) next = select(rows.at(-1)).execute()
    yield await decryptRows(keyStore, workspaceId, rows, contents)
    if (rows.length < batch) return
  }
}
