import { type Db, processName, type Sql } from '../../base/db.ts'
import { endLeasesOf, listDeadHolders } from '../endpoint/queue-queries.ts'

/** Once the database is there again, processes come back one by one: for so long nobody is taken for dead. */
const graceMs = 3000
/** Of those who died before they were seen here, the leases are looked for. */
const searchEveryMs = 1000

interface Sessions {
  /** Of all processes that have a session now. */
  names: Set<string>
  /** Of this process. */
  pids: number[]
  databaseIsYoung: boolean
}

/**
 * Returns what to call many times a second: it ends the leases of workers that have died, and returns how many. A look
 * costs the list of sessions; the leases are only searched when a process has gone from it, or once a second.
 */
export function createDeadWorkerReaper(db: Db, nowMs = () => performance.now()): () => Promise<number> {
  let last: Sessions | null = null
  let graceEndsAt = 0
  let searchedAt = Number.NEGATIVE_INFINITY
  return async () => {
    const seen = await readSessions(db.sql)
    const now = nowMs()
    const isMissed = last !== null && [...last.names].some((name) => !seen.names.has(name))
    if (isBackAgain(last, seen)) graceEndsAt = now + graceMs
    last = seen
    if (now < graceEndsAt || (!isMissed && now < searchedAt + searchEveryMs)) return 0
    searchedAt = now
    const dead = await listDeadHolders(db.sql)
    return dead.length === 0 ? 0 : db.statement((tx) => endLeasesOf(tx, dead))
  }
}

/** Whether the database has ended all sessions of late. A process that begins has none to tell it by. */
function isBackAgain(last: Sessions | null, seen: Sessions): boolean {
  return last === null ? seen.databaseIsYoung : !seen.pids.some((pid) => last.pids.includes(pid))
}

async function readSessions(sql: Sql): Promise<Sessions> {
  const rows = await sql<{ name: string; isOurs: boolean; pids: number[]; databaseIsYoung: boolean }[]>`
    select
      application_name as name,
      application_name = ${processName(sql)} as "isOurs",
      array_agg(pid) as pids,
      pg_postmaster_start_time() > clock_timestamp() - ${`${graceMs} milliseconds`}::interval as "databaseIsYoung"
    from pg_stat_activity
    where datname = current_database()
      and usename = current_user
      and application_name is not null
    group by application_name`
  return {
    names: new Set(rows.map(({ name }) => name)),
    pids: rows.filter(({ isOurs }) => isOurs).flatMap(({ pids }) => pids),
    databaseIsYoung: rows.some(({ databaseIsYoung }) => databaseIsYoung),
  }
}
