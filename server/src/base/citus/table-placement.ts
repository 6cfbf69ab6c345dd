import type { Sql } from '../db.ts'

/** A table as it is, and where the rule wants it. */
export interface PlacedTable extends TableShape {
  place: Place
  /** Where it is: on this server alone, as long as nothing else was done with it. */
  kind: Place['kind']
  /** By which column it is spread, when it is. */
  spreadBy: string | null
  /** Rows, as last counted. */
  rows: number
  /** With indexes and partitions, on this server. */
  bytes: number
  /** Whether rows are stored on this server: of a table that was turned over, what it has left behind. */
  hasRows: boolean
}

/** A foreign key leads from one table to another. */
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

interface Turned {
  oid: number
  method: string
  isEverywhere: boolean
  column: string | null
}

/**
 * Every table of ours in the order of their names; a partition is its parent's. Where a table belongs also follows from foreign keys that
 * are away for the moment.
 */
export async function readTables(sql: Sql, away: readonly Reference[]): Promise<PlacedTable[]> {
  const shapes = await readShapes(sql)
  const turned = new Map((await readTurned(sql)).map((row) => [row.oid, row]))
  const awayOf = (name: string) => away.filter(({ table }) => table === name).map(({ references }) => references)
  const places = placesOf(
    shapes.map((shape) => ({ ...shape, references: [...shape.references, ...awayOf(shape.name)] })),
  )
  return shapes.map(({ oid, ...shape }) => ({
    ...shape,
    place: places.get(shape.name) ?? { kind: 'coordinator' },
    ...placeNow(turned.get(oid)),
  }))
}

function placeNow(turned: Turned | undefined): Pick<PlacedTable, 'kind' | 'spreadBy'> {
  if (turned?.method === 'h') return { kind: 'spread', spreadBy: turned.column }
  return { kind: turned?.isEverywhere ? 'everywhere' : 'coordinator', spreadBy: null }
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

/** The columns of an index `i`, as JSON. */
const columnsOf = (sql: Sql) => sql`
  select json_agg(coalesce(a.attname::text, '') order by n.place)
  from unnest(i.indkey::smallint[]) with ordinality n (attnum, place)
  left join pg_attribute a on a.attrelid = i.indrelid and a.attnum = n.attnum and n.attnum > 0
  where n.place <= i.indnkeyatts`

/** What Citus knows of our tables; nothing where it is not installed. */
async function readTurned(sql: Sql): Promise<Turned[]> {
  if (!(await hasCitus(sql))) return []
  return sql<Turned[]>`
    select
      p.logicalrelid::oid::bigint as oid,
      p.partmethod as method,
      p.partmethod = 'n' and p.repmodel = 't' as "isEverywhere",
      case when p.partkey is not null then column_to_column_name(p.logicalrelid, p.partkey) end as "column"
    from pg_dist_partition p
    join pg_class c on c.oid = p.logicalrelid
    where c.relnamespace = current_schema()::regnamespace`
}

/** Whether the extension is installed in this database. */
export async function hasCitus(sql: Sql): Promise<boolean> {
  return (await sql`select from pg_extension where extname = 'citus'`).length > 0
}

/** What decides where a table stands when several servers share the database. */
export interface TableShape {
  name: string
  /** The columns of the primary key, in order. */
  key: readonly string[]
  /** The columns of each other unique index; an expression among them is ''. */
  uniques: readonly (readonly string[])[]
  /** The tables that its foreign keys lead to. */
  references: readonly string[]
}

/**
 * Spread by the workspace: each row is on the server that has its workspace. A copy everywhere: on all servers, so that what is spread
 * may refer to it. On the coordinator alone.
 */
type Place = { kind: 'spread'; by: string } | { kind: 'everywhere' } | { kind: 'coordinator' }

/** The columns that say whose a row is. A scope is a workspace, or the installation. */
const owners = ['workspace_id', 'scope_id']

/** Tables that the rule would spread, and why they are not. */
export const exceptions: Readonly<Record<string, { kind: 'everywhere' | 'coordinator'; why: string }>> = {
  members: {
    kind: 'everywhere',
    why: 'Found by the person, before it is known in which workspaces they are; one row for each person of a team.',
  },
  secrets: {
    kind: 'coordinator',
    why: 'A new master key wraps all of them in one transaction, under their locks; some three rows a workspace.',
  },
}

/**
 * Where each table stands. Spread is what is kept by workspace: the primary key begins with it. A unique key without the workspace can
 * only be kept where all rows are, so such a table is everywhere; it is one that is looked into before the workspace is known. So is
 * what tables that are spread or everywhere refer to, unless it is spread itself. All others are the installation's own.
 */
export function placesOf(tables: readonly TableShape[]): Map<string, Place> {
  const places = new Map<string, Place>()
  for (const table of tables) places.set(table.name, ownPlace(table))
  const isSpread = (name: string) => places.get(name)?.kind === 'spread'
  for (let isSettled = false; !isSettled; ) {
    isSettled = true
    for (const table of tables) {
      const place = places.get(table.name)
      if (place?.kind === 'coordinator') continue
      for (const to of table.references) {
        const isFine = place?.kind === 'spread' && isSpread(to)
        if (isFine || places.get(to)?.kind === 'everywhere') continue
        places.set(to, { kind: 'everywhere' })
        isSettled = false
      }
    }
  }
  return places
}

function ownPlace({ name, key, uniques }: TableShape): Place {
  const by = owners.find((column) => key[0] === column)
  if (by === undefined) return { kind: 'coordinator' }
  const exception = exceptions[name]
  if (exception !== undefined) return { kind: exception.kind }
  return uniques.every((columns) => columns.includes(by)) ? { kind: 'spread', by } : { kind: 'everywhere' }
}

/** What a server says of itself and of those that it shares the database with. */
export interface CitusServer {
  /** Of the extension, `13.2.2`. */
  version: string
  isCoordinator: boolean
  /** Whether the coordinator is in its own list: else tables that are everywhere are not on it. */
  isListed: boolean
  /** The servers that keep what is spread, as `host:port`. */
  nodes: string[]
  /** Into how many pieces a table is cut. */
  shards: number
}

/** Null where the extension is not installed in this database. */
export async function readServer(sql: Sql): Promise<CitusServer | null> {
  if (!(await hasCitus(sql))) return null
  const [row] = await sql<(Omit<CitusServer, 'version'> & { words: string })[]>`
    select
      citus_version() as words,
      (select groupid = 0 from pg_dist_local_group) as "isCoordinator",
      exists (select from pg_dist_node where groupid = 0 and isactive) as "isListed",
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

/** The first that was tried. */
const oldestCitus = 13

/** What keeps tables from being spread by this server, and what to do about it; null when nothing does. */
export function problemOf(server: CitusServer | null): string | null {
  if (server === null) {
    return 'The database has no Citus. Install the extension on every server, and run "create extension citus" in this database on each.'
  }
  const { version, isCoordinator, isListed, nodes } = server
  if (!(Number.parseInt(version, 10) >= oldestCitus)) {
    return `Parley needs Citus ${oldestCitus} or newer; the server of DATABASE_URL has ${version || 'an unknown one'}.`
  }
  if (!isCoordinator) return notCoordinator
  if (!isListed) {
    return 'The coordinator is not in its own list of servers. Run "select citus_set_coordinator_host(\'<its name>\')" on it.'
  }
  if (nodes.length === 0) {
    return 'No server is there to keep the tables. Run "select citus_add_node(\'<name>\', 5432)" on the coordinator for each.'
  }
  return null
}

const notCoordinator =
  'DATABASE_URL leads to a worker of Citus. Let it lead to the coordinator: only there are locks, news and the order of events one.'

/** Throws where this is one of several servers, but not the one that all processes have to talk to. */
export async function refuseWorker(sql: Sql): Promise<void> {
  const server = await readServer(sql)
  if (server !== null && !server.isCoordinator) throw new Error(notCoordinator)
}
