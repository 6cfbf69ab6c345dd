import type { Db, Tx } from '../../base/db.ts'
import {
  allowedResult,
  type Limiter,
  type RateLimitResult,
  refusedResult,
  returnUnits,
  type SlidingWindow,
  takeUnits,
  waitMs,
} from './limiter.ts'

const slotMs = 500
const maxLeases = 10_000
const cleanEveryMs = 300_000

export interface PostgresLimiterOptions {
  db: Db
  /** Replaces the clocks of the database and of this process. Without it the database's clock counts. */
  now?: () => Date
}

/** One query to the database, with the requests that wait for it. */
interface Renewal {
  waiting: number
  /** Whether the query was sent. Later requests wait for it to end and then check again. */
  isSent: boolean
  granted: Promise<LeaseGrant>
}

/**
 * Counts over all nodes that share a database: no 60 s ever contain more than the limit. To write once for many
 * requests, a node leases units in advance: about as many as it used in the previous half second, at most a twentieth
 * of the limit. It returns unused units with its next lease. The cost: a unit becomes available up to half a second
 * late, and the last lease of a key that is no longer used on its node counts for a minute.
 */
export function createPostgresLimiter({ db, now }: PostgresLimiterOptions): Limiter {
  // Monotonic, because only differences count and a clock change must not lengthen a lease.
  const localMs = now === undefined ? () => performance.now() : () => now().getTime()
  const leases = new Map<string, Lease>()
  const renewals = new Map<string, Renewal>()

  async function take(key: string, limit: number): Promise<RateLimitResult> {
    for (;;) {
      const answer = useLease(leases.get(key), limit, localMs())
      if (answer !== null) return answer
      const renewal = renewals.get(key) ?? startRenewal(key, limit)
      if (renewal.isSent) await renewal.granted
      else {
        const position = renewal.waiting++
        const { served, total, waitMs } = await renewal.granted
        return position < served
          ? allowedResult(limit, total - served + position + 1, waitMs)
          : refusedResult(limit, waitMs)
      }
    }
  }

  function startRenewal(key: string, limit: number): Renewal {
    const renewal: Renewal = {
      waiting: 0,
      isSent: false,
      // Deferred, so that requests of the same moment are included.
      granted: Promise.resolve().then(() => renew(key, limit, renewal)),
    }
    renewals.set(key, renewal)
    return renewal
  }

  async function renew(key: string, limit: number, renewal: Renewal): Promise<LeaseGrant> {
    renewal.isSent = true
    const old = leases.get(key)
    leases.delete(key)
    const sentAtMs = localMs()
    const request = { limit, waiting: renewal.waiting, ahead: unitsAhead(old, limit, sentAtMs), unused: old, now }
    try {
      const granted = await db.tx((tx) => leaseUnits(tx, key, request))
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

// Times are relative to the moment before the query was sent, so that the lease can only end too early.
function leaseOf({ slot, served, ahead, slotLeftMs, total, waitMs }: LeaseGrant, sentAtMs: number): Lease {
  return { slot, units: ahead, used: served, endsAtMs: sentAtMs + slotLeftMs, total, freeAtMs: sentAtMs + waitMs }
}

function dropEnded(leases: Map<string, Lease>, nowMs: number): void {
  for (const [key, lease] of leases) if (nowMs >= lease.endsAtMs) leases.delete(key)
}

/** Units that a node took in advance. */
interface Lease {
  /** The slot in which they count. The lease ends with it, because a unit used later would count too early. */
  slot: number
  units: number
  /** Requests served so far. Determines the size of the next lease. */
  used: number
  /** By this node's monotonic clock, as `freeAtMs`. */
  endsAtMs: number
  /** Units that counted over all nodes when the lease was granted. */
  total: number
  /** When the first unit expires; after a refusal, when a unit becomes available. */
  freeAtMs: number
}

/** Returns null if a query is needed. A refusal lasts until its slot ends: two queries a second for a refused key. */
function useLease(lease: Lease | undefined, limit: number, nowMs: number): RateLimitResult | null {
  if (lease === undefined || nowMs >= lease.endsAtMs) return null
  const waitMs = Math.max(0, lease.freeAtMs - nowMs)
  if (lease.units === 0) return lease.total >= limit ? refusedResult(limit, waitMs) : null
  lease.units--
  lease.used++
  return allowedResult(limit, lease.total - lease.units, waitMs)
}

/** Returns how many units to lease beyond the waiting requests: twice the last use if the lease was exhausted early. */
function unitsAhead(old: Lease | undefined, limit: number, nowMs: number): number {
  if (old === undefined || nowMs >= old.endsAtMs + slotMs) return 0
  const wasExhausted = nowMs < old.endsAtMs
  return Math.min(wasExhausted ? old.used * 2 : old.used, Math.floor(limit / 20))
}

interface LeaseRequest {
  limit: number
  waiting: number
  ahead: number
  /** The previous lease, whose units can no longer be used. */
  unused: Lease | undefined
  now: (() => Date) | undefined
}

interface LeaseGrant {
  slot: number
  /** How many of the waiting requests were granted a unit. */
  served: number
  ahead: number
  slotLeftMs: number
  total: number
  waitMs: number
}

/** Takes units in the row of the key, under its lock. */
async function leaseUnits(tx: Tx, key: string, request: LeaseRequest): Promise<LeaseGrant> {
  const { limit, unused } = request
  const row = await lockWindow(tx, key)
  const nowMs = (request.now?.() ?? row.now).getTime()
  const window: SlidingWindow = {
    slots: row.slots,
    units: row.units,
    total: row.units.reduce((sum, units) => sum + units, 0),
  }
  if (unused !== undefined && unused.units > 0) returnUnits(window, unused.slot, unused.units)
  const served = takeUnits(window, nowMs, slotMs, limit, request.waiting)
  // Near the limit the lease is small, because units leased by one node are refused by the others.
  const spare = Math.floor((limit - window.total) / 4)
  const ahead = takeUnits(window, nowMs, slotMs, limit, Math.min(request.ahead, spare))
  const slot = Math.max(Math.floor(nowMs / slotMs), window.slots.at(-1) ?? 0)
  const granted = {
    slot,
    served,
    ahead,
    slotLeftMs: (slot + 1) * slotMs - nowMs,
    total: window.total,
    waitMs: waitMs(window, nowMs, slotMs, limit),
  }
  await tx`
    update rate_limits
    set slots = ${window.slots}::bigint[],
      units = ${window.units}::integer[],
      touched_at = ${new Date(nowMs)}
    where key = ${key}`
  return granted
}

/** Locks the window of a key, creating it if missing. */
async function lockWindow(tx: Tx, key: string): Promise<Pick<SlidingWindow, 'slots' | 'units'> & { now: Date }> {
  for (;;) {
    // Uses the database's clock, because the clocks of nodes differ.
    const [row] = await tx<{ slots: number[]; units: number[]; now: Date }[]>`
      select slots, units, clock_timestamp() as now
      from rate_limits
      where key = ${key}
      for update`
    if (row !== undefined) return row
    await tx`
      insert into rate_limits (key, slots, units, touched_at)
      values (${key}, '{}', '{}', now())
      on conflict do nothing`
  }
}

/** Deletes windows not used for twice their length, because clocks may step back a little. */
async function deleteIdleWindows(tx: Tx): Promise<void> {
  await tx`
    delete from rate_limits
    where touched_at < clock_timestamp() - interval '2 minutes'`
}
