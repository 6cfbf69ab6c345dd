import { hiddenWorkspace, isDistributed } from '../../base/citus/distributed-sql.ts'
import type { Fragment, Sql, Tx } from '../../base/db.ts'
import { byteaArray } from '../../base/postgres/values.ts'
import type { LeadRow } from './encrypted-lead.ts'

/** Columns of the fields of a lead that are stored as they are. */
export const plainColumns = (sql: Sql) => sql`
  l.id, l.unique_code as "uniqueCode", l.external_ref as "externalRef", l.status, l.priority, l.source,
  l.ad_platform as "adPlatform", l.assigned_to as "assignedTo", l.estimated_value as "estimatedValue",
  l.actual_value as "actualValue", l.deleted_at as "deletedAt"`

/** Columns that make up a lead, without columns used only for search. */
export const leadColumns = (sql: Sql) => sql`
  ${plainColumns(sql)}, l.person, l.notes, l.custom_fields as "customFields", l.created_at as "createdAt",
  l.updated_at as "updatedAt"`

/** Columns of a `ListedLeadRow`. Text columns are parsed several times as fast as times and bytes. */
export const listedLeadColumns = (sql: Sql) => sql`
  ${plainColumns(sql)},
  encode(l.person, 'base64') || ' ' || coalesce(encode(l.notes, 'base64'), '')
    || ' ' || coalesce(encode(l.custom_fields, 'base64'), '') as sealed,
  l.created_at::text as "createdAt", l.updated_at::text as "updatedAt"`

// Arrays are wrapped in `(select …)` to hide their length from the planner, which would otherwise replan for every
// length; planning costs more than execution.
// Lookups by id filter deleted leads here, not in SQL: with that condition, any index of live leads matches, and for a
// table filled a minute ago the planner assumes that a workspace has few of them.

/**
 * Returns the workspace id hidden from the planner, for conditions on names or ids. For a workspace missing in its
 * statistics the planner expects at most one lead, picks any index, and reads all leads of a large workspace.
 */
export const hiddenWorkspaceId = (sql: Sql, workspaceId: string) => hiddenWorkspace(sql, workspaceId)

/** Returns the live leads with these ids, unordered. */
export async function findLeadsByIds<R extends Pick<LeadRow, 'id' | 'deletedAt'> = LeadRow>(
  sql: Sql,
  workspaceId: string,
  ids: readonly string[],
  columns: Fragment = leadColumns(sql),
): Promise<R[]> {
  const rows = await sql<R[]>`
    select ${columns}
    from leads l
    where l.workspace_id = ${hiddenWorkspaceId(sql, workspaceId)}
      and l.id = any ((select ${ids as string[]}::uuid[])::uuid[])`
  return rows.filter(isLive)
}

/** Filters rows, not the table: without statistics, the SQL condition selects an index of the whole workspace. */
const isLive = (row: Pick<LeadRow, 'deletedAt'>): boolean => row.deletedAt === null

/**
 * Returns the FROM and WHERE clauses for live leads `o` that have one of these digests among several phones or e-mails
 * because of a merge. Each is looked up by id alone, for the reason above.
 */
export const leadsWithContacts = (sql: Sql, workspaceId: string, digests: Fragment) => sql`
  lead_contacts k
  cross join lateral (
    select *
    from leads
    where workspace_id = ${hiddenWorkspaceId(sql, workspaceId)}
      and id = k.lead_id
    limit 1
  ) as o
  where k.workspace_id = ${hiddenWorkspaceId(sql, workspaceId)}
    and k.digest = any (${digests})
    and o.deleted_at is null`

/** Returns the lead with this uniqueCode, externalRef or phone, in that order; of one phone the oldest, merged last. */
export async function findLeadByName(
  sql: Sql,
  workspaceId: string,
  name: string,
  phoneIndexes: readonly Buffer[],
): Promise<LeadRow | undefined> {
  const workspace = hiddenWorkspaceId(sql, workspaceId)
  const [row] = await sql<LeadRow[]>`
    select ${leadColumns(sql)}
    from (
      select 1 as rank, c.* from leads c
      where c.workspace_id = ${workspace} and c.unique_code = ${name} and c.deleted_at is null
      union all
      select 2 as rank, r.* from leads r
      where r.workspace_id = ${workspace} and r.external_ref = ${name} and r.deleted_at is null
      ${
        phoneIndexes.length === 0
          ? sql``
          : sql`
      union all
      (
        select 3 as rank, p.* from leads p
        where p.workspace_id = ${workspace} and p.phone_index is not null
          and p.phone_index = any (${byteaArray(phoneIndexes)}::bytea[]) and p.deleted_at is null
        order by p.created_at, p.id
        limit 1
      )
      union all
      (
        select 4 as rank, o.*
        from ${leadsWithContacts(sql, workspaceId, sql`${byteaArray(phoneIndexes)}::bytea[]`)}
        order by o.created_at, o.id
        limit 1
      )`
      }
    ) as l
    order by l.rank
    limit 1`
  return row
}

/** Returns the oldest live lead of each phone, with the phone's position in the list (from 1), ordered by age. */
export async function findOldestByPhones(
  sql: Sql,
  workspaceId: string,
  phoneIndexes: readonly Buffer[],
): Promise<(LeadRow & { place: number })[]> {
  return sql<(LeadRow & { place: number })[]>`
    select ${leadColumns(sql)}, p.place::integer
    from unnest(${byteaArray(phoneIndexes)}::bytea[]) with ordinality as p (phone_index, place)
    cross join lateral (
      select *
      from (
        (
          select 1 as rank, o.*
          from leads o
          where o.workspace_id = ${hiddenWorkspaceId(sql, workspaceId)}
            and o.phone_index = p.phone_index
            and o.deleted_at is null
          order by o.created_at, o.id
          limit 1
        )
        union all
        (
          select 2 as rank, o.*
          from ${leadsWithContacts(sql, workspaceId, sql`array[p.phone_index]`)}
          order by o.created_at, o.id
          limit 1
        )
      ) as either
      order by rank
      limit 1
    ) as l
    order by l.created_at, l.id`
}

/**
 * Locks the live leads among these ids for a change until the transaction ends. `for no key update` does not block rows
 * that refer to a lead, such as its search tokens.
 */
export async function lockLiveLeads(tx: Tx, workspaceId: string, ids: readonly string[]): Promise<LeadRow[]> {
  const rows = await tx<LeadRow[]>`
    select ${leadColumns(tx)}
    from leads l
    where l.workspace_id = ${workspaceId}
      and l.id = any ((select ${[...ids]}::uuid[])::uuid[])
    order by l.id
    for no key update`
  return rows.filter(isLive)
}

export const lockLead = async (tx: Tx, workspaceId: string, id: string): Promise<LeadRow | undefined> =>
  (await lockLiveLeads(tx, workspaceId, [id]))[0]

/**
 * Returns the FROM clause for live leads `l` with one of these names, `n.name`. Each name is looked up by its index:
 * PostgreSQL before 17 may compare an array of names with every lead of a workspace. `offset 0` keeps the planner from
 * flattening the subquery.
 */
export const liveLeadsByName = (
  sql: Sql,
  workspaceId: string,
  column: 'unique_code' | 'external_ref' | 'phone_index',
  names: Fragment,
) => sql`
  unnest(${names}) as n (name)
  cross join lateral (
    select id
    from leads
    where workspace_id = ${hiddenWorkspaceId(sql, workspaceId)}
      and ${sql(column)} = n.name
      and deleted_at is null
    offset 0
  ) as l`

export interface LeadNames {
  ids: string[]
  uniqueCodes: string[]
  externalRefs: string[]
  phoneIndexes: Buffer[]
}

/**
 * Locks and returns every live lead with one of these names, in an order that prevents deadlocks between batches. The
 * ids form one array: with a join and outdated statistics, the planner may scan the growing table for each id.
 */
export async function lockLeadsByNames(tx: Sql, workspaceId: string, names: LeadNames): Promise<LeadRow[]> {
  const phoneIndexes = byteaArray(names.phoneIndexes)
  const only = isDistributed(tx) ? onlyNames(tx, names) : null
  const rows = await tx<LeadRow[]>`
    select ${leadColumns(tx)}
    from leads l
    where l.workspace_id = ${hiddenWorkspaceId(tx, workspaceId)}
      and ${
        only ??
        tx`l.id = any (array(
        select id from unnest((select ${names.ids}::uuid[])) as i (id)
        union all
        select l.id from ${liveLeadsByName(tx, workspaceId, 'unique_code', tx`(select ${names.uniqueCodes}::text[])`)}
        union all
        select l.id from ${liveLeadsByName(tx, workspaceId, 'external_ref', tx`(select ${names.externalRefs}::text[])`)}
        union all
        select l.id from ${liveLeadsByName(tx, workspaceId, 'phone_index', tx`(select ${phoneIndexes}::bytea[])`)}
        union all
        select k.lead_id
        from unnest((select ${phoneIndexes}::bytea[])) as n (name)
        join lead_contacts k on k.workspace_id = ${hiddenWorkspaceId(tx, workspaceId)} and k.digest = n.name
      ))`
      }
    order by l.id
    for no key update of l`.execute()
  return rows.filter(isLive)
}

/** SQL: matches `leads l` if all names are of one kind. Citus caches the plan of a statement on one table. */
function onlyNames(sql: Sql, { ids, uniqueCodes, externalRefs, phoneIndexes }: LeadNames): Fragment | null {
  const kinds = { id: ids, unique_code: uniqueCodes, external_ref: externalRefs }
  const [kind, ...others] = Object.entries(kinds).filter(([, names]) => names.length > 0)
  if (kind === undefined || others.length + phoneIndexes.length > 0) return null
  const [column, names] = kind
  return column === 'id'
    ? sql`l.id = any (${names}::uuid[])`
    : sql`${sql(`l.${column}`)} = any (${names}::text[]) and l.deleted_at is null`
}

/** Has reports count leads again after a change that is no event. */
export async function recountLeads(tx: Tx, workspaceId: string, leadIds: readonly string[]): Promise<void> {
  await tx`
    insert into report_leads (workspace_id, id, lead_id)
    select ${workspaceId}::uuid, gen_random_uuid(), n.id
    from unnest(${[...leadIds]}::uuid[]) as n (id)`
}
