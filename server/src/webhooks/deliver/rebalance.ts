import { type Db, processName, type Sql } from '../../base/db.ts'
import { endLeases, listDeadWorkers, listWorkerLoads, type WorkerLoad } from '../endpoint/queue-queries.ts'

/** Published when a worker requests queues of another one; the id is a `RebalanceRequest` in JSON. */
export const rebalanceTopic = 'webhooks_asked'
/** Published when a queue is released to another worker; the id is the workspace. */
export const releasedTopic = 'webhooks_given'

/** Asks the worker with the session name `from` to release `count` queues to `to`. */
export interface RebalanceRequest {
  from: string
  to: string
  count: number
}

/** Smaller differences are not worth the interruption, and would move queues back and forth. */
const minDifference = 4
const minDifferenceShare = 0.2
/** Queues move in small numbers: a worker that has just started is still slow. */
const maxAtOnce = 20

/**
 * Requests queues from the worker that has most, if this one has far fewer: a busy worker never releases queues by
 * itself, so a new worker would stay idle. Call it repeatedly, because notifications can be lost. Returns how many
 * queues other workers hold.
 */
export async function requestRebalance(db: Db): Promise<number> {
  const loads = await listWorkerLoads(db.sql)
  const request = planRebalance(loads)
  if (request !== null) await db.statement((tx) => tx`select`, { topic: rebalanceTopic, id: JSON.stringify(request) })
  return loads.slice(1).reduce((sum, { queues }) => sum + queues, 0)
}

/** Returns the request of the first worker; null if the loads are balanced. */
export function planRebalance([own, ...others]: readonly WorkerLoad[]): RebalanceRequest | null {
  const [busiest] = others.toSorted((a, b) => b.queues - a.queues)
  if (own === undefined || busiest === undefined) return null
  const difference = busiest.queues - own.queues
  if (difference < Math.max(minDifference, busiest.queues * minDifferenceShare)) return null
  return { from: busiest.session, to: own.session, count: Math.min(Math.floor(difference / 2), maxAtOnce) }
}

/** Milliseconds after a database restart in which no worker counts as dead, because they reconnect one by one. */
const graceMs = 3000
/** Interval of searches for leases of workers that died before this process saw their sessions. */
const searchEveryMs = 1000

interface Sessions {
  /** Session names of all connected processes. */
  names: Set<string>
  /** Backend pids of this process. */
  pids: number[]
  databaseIsYoung: boolean
}

/**
 * Returns a function to call many times per second: it ends the leases of dead workers, and returns how many. Each call
 * lists the sessions; leases are searched only if a process has disappeared, or once per second.
 */
export function createDeadWorkerReaper(db: Db, nowMs = () => performance.now()): () => Promise<number> {
  let last: Sessions | null = null
  let graceEndsAt = 0
  let searchedAt = Number.NEGATIVE_INFINITY
  return async () => {
    const seen = await readSessions(db.sql)
    const now = nowMs()
    const hasDisappeared = last !== null && [...last.names].some((name) => !seen.names.has(name))
    if (hasDatabaseRestarted(last, seen)) graceEndsAt = now + graceMs
    last = seen
    if (now < graceEndsAt || (!hasDisappeared && now < searchedAt + searchEveryMs)) return 0
    searchedAt = now
    const dead = await listDeadWorkers(db.sql)
    return dead.length === 0 ? 0 : db.statement((tx) => endLeases(tx, dead))
  }
}

/** Returns whether the database has ended all sessions recently. A new process has none to compare. */
function hasDatabaseRestarted(last: Sessions | null, seen: Sessions): boolean {
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
