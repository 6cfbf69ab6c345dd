import type { Sql } from '../db.ts'
import { hasCitus } from './tables.ts'

/** What a server says of itself and of those that it shares the database with. */
export interface SpreadServer {
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
export async function readServer(sql: Sql): Promise<SpreadServer | null> {
  if (!(await hasCitus(sql))) return null
  const [row] = await sql<(Omit<SpreadServer, 'version'> & { words: string })[]>`
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
export function problemOf(server: SpreadServer | null): string | null {
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
