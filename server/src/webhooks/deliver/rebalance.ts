import { type Db, processName, type Sql } from '../../base/db.ts'
import { endLeases, listDeadWorkers, listWorkerLoads, type WorkerLoad } from '../endpoint/queue-queries.ts'

/** A worker wants some of another's queues; the id is an `Ask`, in JSON. */
export const rebalanceTopic = 'webhooks_asked'
/** A queue of the workspace, which is the id, was given back for another worker to go on with. */
export const releasedTopic = 'webhooks_given'

/** That one worker, by the name of its sessions, gives so many queues to another. */
export interface RebalanceRequest {
  from: string
  to: string
  count: number
}

/** Less is not worth the interruption, and would go back and forth. */
const minDifference = 4
const minDifferenceShare = 0.2
/** Queues change hands some at a time: whoever has just begun is slow yet. */
const maxAtOnce = 20

/**
 * Asks the worker with the most queues for a part of them, should this one have far fewer: nobody lets go of a queue
 * that has something to send every second, so that a worker that begins would have nothing to do. News may be lost:
 * then it asks again. Returns how many
 * others hold.
 */
export async function requestRebalance(db: Db): Promise<number> {
  const holdings = await listWorkerLoads(db.sql)
  const request = planRebalance(holdings)
  if (request !== null) await db.statement((tx) => tx`select`, { topic: rebalanceTopic, id: JSON.stringify(request) })
  return holdings.slice(1).reduce((sum, { queues }) => sum + queues, 0)
}

/** What the first of them asks for. */
export function planRebalance([own, ...others]: readonly WorkerLoad[]): RebalanceRequest | null {
  const [richest] = others.toSorted((a, b) => b.queues - a.queues)
  if (own === undefined || richest === undefined) return null
  const difference = richest.queues - own.queues
  if (difference < Math.max(minDifference, richest.queues * minDifferenceShare)) return null
  return { from: richest.session, to: own.session, count: Math.min(Math.floor(difference / 2), maxAtOnce) }
}

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
    if (hasDatabaseRestarted(last, seen)) graceEndsAt = now + graceMs
    last = seen
    if (now < graceEndsAt || (!isMissed && now < searchedAt + searchEveryMs)) return 0
    searchedAt = now
    const dead = await listDeadWorkers(db.sql)
    return dead.length === 0 ? 0 : db.statement((tx) => endLeases(tx, dead))
  }
}

/** Whether the database has ended all sessions of late. A process that begins has none to tell it by. */
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
