import type { Db } from '../../base/db.ts'
import { type Limiter, refused, type Take, taken } from './limiter.ts'
import { type Granted, type Lease, leaseUnits, unitsAhead, useLease } from './rate-limit-lease.ts'
import { deleteIdleWindows } from './rate-limit-queries.ts'

const maxLeases = 10_000
const cleanEveryMs = 300_000

export interface PostgresLimiterOptions {
  db: Db
  /** Stands in for the time of the database and of this process alike; without it the database's own time counts. */
  now?: () => Date
}

/** One question to the database, with the requests that wait for its answer. */
interface Renewal {
  waiting: number
  /** Asked already: who comes now waits for it to end and then looks again. */
  asked: boolean
  granted: Promise<Granted>
}

/**
 * Counts over all nodes that share a database: no 60 s ever hold more than the limit. To write once for many
 * requests a node leases units ahead, about as many as it used in the half second before and at most a twentieth of
 * the limit, and gives back what is left when it leases again. The price: a unit comes back up to half a second
 * late, and the last lease of a key that is not used again on its node counts for a minute.
 */
export function createPostgresLimiter({ db, now }: PostgresLimiterOptions): Limiter {
  // Only differences count here, and a clock that is set must not lengthen a lease.
  const localMs = now === undefined ? () => performance.now() : () => now().getTime()
  const leases = new Map<string, Lease>()
  const renewals = new Map<string, Renewal>()

  async function take(key: string, limit: number): Promise<Take> {
    for (;;) {
      const answer = useLease(leases.get(key), limit, localMs())
      if (answer !== null) return answer
      const renewal = renewals.get(key) ?? begin(key, limit)
      if (renewal.asked) await renewal.granted
      else {
        const place = renewal.waiting++
        const { served, total, waitMs } = await renewal.granted
        return place < served ? taken(limit, total - served + place + 1, waitMs) : refused(limit, waitMs)
      }
    }
  }

  function begin(key: string, limit: number): Renewal {
    const renewal: Renewal = { waiting: 0, asked: false, granted: Promise.resolve().then(() => renew(key, limit)) }
    renewals.set(key, renewal)
    return renewal
  }

  async function renew(key: string, limit: number): Promise<Granted> {
    const renewal = renewals.get(key)
    const waiting = renewal?.waiting ?? 0
    if (renewal !== undefined) renewal.asked = true
    const old = leases.get(key)
    leases.delete(key)
    const sentAtMs = localMs()
    const wanted = { limit, waiting, ahead: unitsAhead(old, limit, sentAtMs), unused: old, now }
    try {
      const granted = await db.tx((tx) => leaseUnits(tx, key, wanted))
      if (leases.size >= maxLeases) dropEnded(leases, localMs())
      leases.set(key, leaseOf(granted, sentAtMs))
      return granted
    } finally {
      renewals.delete(key)
    }
  }

  const cleaning = setInterval(() => db.tx(deleteIdleWindows).catch(() => {}), cleanEveryMs).unref()
  return { take, close: async () => clearInterval(cleaning) }
}

// All times run from before the question was sent: the lease can only end too early.
function leaseOf({ slot, served, ahead, slotLeftMs, total, waitMs }: Granted, sentAtMs: number): Lease {
  return { slot, units: ahead, used: served, endsAtMs: sentAtMs + slotLeftMs, total, freeAtMs: sentAtMs + waitMs }
}

function dropEnded(leases: Map<string, Lease>, nowMs: number): void {
  for (const [key, lease] of leases) if (nowMs >= lease.endsAtMs) leases.delete(key)
}
