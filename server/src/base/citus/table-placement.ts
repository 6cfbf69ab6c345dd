import type { Sql } from '../db.ts'

/** A table with its current and its intended placement. */
export interface PlacedTable extends TableShape {
  placement: Placement
  /** Current placement; a local table counts as `coordinator`. */
  kind: Placement['kind']
  /** Distribution column, if distributed. */
  distributionColumn: string | null
  /** Rows at the last count. */
  rows: number
  /** On this server, with indexes and partitions. */
  bytes: number
  /** Whether this server stores rows: of a distributed table, the local rows left behind. */
  hasRows: boolean
}

/** A foreign key between two tables. */
export interface Reference {
  table: string
  references: string
}

interface Shape extends TableShape {
  oid: number
  rows: number
  bytes: number
  hasRows: boolean
}

interface CitusTable {
  oid: number
  method: string
  isEverywhere: boolean
  column: string | null
}

/** Returns all tables of Parley by name. Partitions count as their parent; dropped foreign keys affect placement. */
export async function readTables(sql: Sql, droppedKeys: readonly Reference[]): Promise<PlacedTable[]> {
  const shapes = await readShapes(sql)
  const citusTables = new Map((await readCitusTables(sql)).map((row) => [row.oid, row]))
  const droppedReferences = (name: string) =>
    droppedKeys.filter(({ table }) => table === name).map(({ references }) => references)
  const places = placeTables(
    shapes.map((shape) => ({ ...shape, references: [...shape.references, ...droppedReferences(shape.name)] })),
  )
  return shapes.map(({ oid, ...shape }) => ({
    ...shape,
    placement: places.get(shape.name) ?? { kind: 'coordinator' },
    ...currentPlacement(citusTables.get(oid)),
  }))
}

function currentPlacement(citusTables: CitusTable | undefined): Pick<PlacedTable, 'kind' | 'distributionColumn'> {
  if (citusTables?.method === 'h') return { kind: 'spread', distributionColumn: citusTables.column }
  return { kind: citusTables?.isEverywhere ? 'everywhere' : 'coordinator', distributionColumn: null }
}

async function readShapes(sql: Sql): Promise<Shape[]> {
  return sql<Shape[]>`
    select
      c.oid::bigint as oid,
      c.relname as name,
      stored.rows,
      stored.bytes,
      stored."hasRows",
      coalesce((select (${columnsOf(sql)}) from pg_index i where i.indrelid = c.oid and i.indisprimary), '[]') as key,
      coalesce(
        (
          select json_agg((${columnsOf(sql)}) order by i.indexrelid)
          from pg_index i
          where i.indrelid = c.oid and i.indisunique and not i.indisprimary
        ),
        '[]'
      ) as uniques,
      coalesce(
        (
          select json_agg(distinct f.relname)
          from pg_constraint k
          join pg_class f on f.oid = k.confrelid
          where k.conrelid = c.oid and k.contype = 'f' and k.conparentid = 0
        ),
        '[]'
      ) as "references"
    from pg_class c
    cross join lateral (
      select
        coalesce(sum(greatest(p.reltuples, 0)), 0)::bigint as rows,
        coalesce(sum(pg_total_relation_size(p.oid)), 0)::bigint as bytes,
        coalesce(sum(pg_relation_size(p.oid)), 0) > 0 as "hasRows"
      from pg_class p
      where p.relkind = 'r' and p.oid in (select c.oid union all select relid from pg_partition_tree(c.oid))
    ) as stored
    where c.relnamespace = current_schema()::regnamespace
      and c.relkind in ('r', 'p')
      and not c.relispartition
    order by c.relname collate "C"`
}

/** SQL: the columns of an index `i`, as JSON. */
const columnsOf = (sql: Sql) => sql`
  select json_agg(coalesce(a.attname::text, '') order by n.place)
  from unnest(i.indkey::smallint[]) with ordinality n (attnum, place)
  left join pg_attribute a on a.attrelid = i.indrelid and a.attnum = n.attnum and n.attnum > 0
  where n.place <= i.indnkeyatts`

/** Reads the metadata of Citus; none if it is not installed. */
async function readCitusTables(sql: Sql): Promise<CitusTable[]> {
  if (!(await hasCitus(sql))) return []
  return sql<CitusTable[]>`
    select
      p.logicalrelid::oid::bigint as oid,
      p.partmethod as method,
      p.partmethod = 'n' and p.repmodel = 't' as "isEverywhere",
      case when p.partkey is not null then column_to_column_name(p.logicalrelid, p.partkey) end as "column"
    from pg_dist_partition p
    join pg_class c on c.oid = p.logicalrelid
    where c.relnamespace = current_schema()::regnamespace`
}

/** Returns true if the extension is installed in this database. */
export async function hasCitus(sql: Sql): Promise<boolean> {
  return (await sql`select from pg_extension where extname = 'citus'`).length > 0
}

/** Determines the placement of a table. */
export interface TableShape {
  name: string
  /** Columns of the primary key, in order. */
  key: readonly string[]
  /** Columns of each other unique index; '' for an expression. */
  uniques: readonly (readonly string[])[]
  /** Tables that its foreign keys reference. */
  references: readonly string[]
}

/**
 * `spread`: distributed by workspace, each row on its workspace's server. `everywhere`: a reference table, copied to
 * all servers so that distributed tables can reference it. `coordinator`: only on the coordinator.
 */
type Placement = { kind: 'spread'; by: string } | { kind: 'everywhere' } | { kind: 'coordinator' }

/** Columns with the owner of a row. A scope is a workspace or the installation. */
const ownerColumns = ['workspace_id', 'scope_id']

/** Tables that the rule would distribute, and why they are not. */
export const exceptions: Readonly<Record<string, { kind: 'everywhere' | 'coordinator'; why: string }>> = {
  members: {
    kind: 'everywhere',
    why: 'Looked up by user before the workspace is known; one row per member of a team.',
  },
  secrets: {
    kind: 'coordinator',
    why: 'A new master key rewraps all of them in one transaction, under their locks; about three rows per workspace.',
  },
}

/**
 * Returns the placement of each table. A table whose primary key begins with the workspace is distributed. A unique key
 * without the workspace needs all rows on one server, so such a table is a reference table; it is used to find the
 * workspace. Tables that distributed or reference tables reference are also reference tables, unless they are
 * distributed. All others stay on the coordinator.
 */
export function placeTables(tables: readonly TableShape[]): Map<string, Placement> {
  const places = new Map<string, Placement>()
  for (const table of tables) places.set(table.name, placementByKey(table))
  const isSpread = (name: string) => places.get(name)?.kind === 'spread'
  for (let isSettled = false; !isSettled; ) {
    isSettled = true
    for (const table of tables) {
      const placement = places.get(table.name)
      if (placement?.kind === 'coordinator') continue
      for (const to of table.references) {
        const isFine = placement?.kind === 'spread' && isSpread(to)
        if (isFine || places.get(to)?.kind === 'everywhere') continue
        places.set(to, { kind: 'everywhere' })
        isSettled = false
      }
    }
  }
  return places
}

function placementByKey({ name, key, uniques }: TableShape): Placement {
  const by = ownerColumns.find((column) => key[0] === column)
  if (by === undefined) return { kind: 'coordinator' }
  const exception = exceptions[name]
  if (exception !== undefined) return { kind: exception.kind }
  return uniques.every((columns) => columns.includes(by)) ? { kind: 'spread', by } : { kind: 'everywhere' }
}

/** A server of the cluster, as it reports itself and the others. */
export interface CitusServer {
  /** Version of the extension, such as `13.2.2`. */
  version: string
  isCoordinator: boolean
  /** Whether the coordinator is in its own node list; otherwise reference tables are not on it. */
  isListed: boolean
  /** Servers for distributed tables, as `host:port`. */
  nodes: string[]
  /** Number of shards per table. */
  shards: number
}

/** Returns null if the extension is not installed in this database. */
export async function readServer(sql: Sql): Promise<CitusServer | null> {
  if (!(await hasCitus(sql))) return null
  const [row] = await sql<(Omit<CitusServer, 'version'> & { words: string })[]>`
    select
      citus_version() as words,
      (select groupid = 0 from pg_dist_local_group) as "isCoordinator",
      exists (select 1 from pg_dist_node where groupid = 0 and isactive) as "isListed",
      coalesce(
        (
          select json_agg(nodename || ':' || nodeport order by nodeid)
          from pg_dist_node
          where isactive and shouldhaveshards and noderole = 'primary'
        ),
        '[]'
      ) as nodes,
      current_setting('citus.shard_count')::integer as shards`
  if (row === undefined) return null
  const { words, ...server } = row
  return { ...server, version: /\d+(?:\.\d+)*/.exec(words)?.[0] ?? '' }
}

/** Oldest tested version. */
const oldestCitus = 13

/** Returns why this server can't distribute tables and how to fix it; null if it can. */
export function findProblem(server: CitusServer | null): string | null {
  if (server === null) {
    return 'This database has no Citus. Install it on every server, and run "create extension citus" in each database.'
  }
  const { version, isCoordinator, isListed, nodes } = server
  if (!(Number.parseInt(version, 10) >= oldestCitus)) {
    return `Parley requires Citus ${oldestCitus} or later; this server has ${version || 'an unknown version'}.`
  }
  if (!isCoordinator) return notCoordinator
  if (!isListed) {
    return 'The coordinator is not in its own node list. Run "select citus_set_coordinator_host(\'<its name>\')" on it.'
  }
  if (nodes.length === 0) {
    return 'No worker node is registered. Run "select citus_add_node(\'<name>\', 5432)" on the coordinator for each.'
  }
  return null
}

const notCoordinator =
  'DATABASE_URL leads to a Citus worker. Use the coordinator, which all locks, notifications and events need.'

/** Throws if this is a worker of a cluster: all processes must connect to the coordinator. */
export async function refuseWorker(sql: Sql): Promise<void> {
  const server = await readServer(sql)
  if (server !== null && !server.isCoordinator) throw new Error(notCoordinator)
}
