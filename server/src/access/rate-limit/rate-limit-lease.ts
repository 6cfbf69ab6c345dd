import type { Tx } from '../../base/db.ts'
import { refused, type Take, taken } from './limiter.ts'
import { lockWindow, saveWindow } from './rate-limit-queries.ts'
import { returnUnits, takeUnits, type Window, waitMs } from './rate-window.ts'

const slotMs = 500

/** Units that a node took ahead of the requests that will use them. */
export interface Lease {
  /** The slot in which they count. The lease ends with it: a unit used later would count too early. */
  slot: number
  units: number
  /** Requests served so far: the measure of the next lease. */
  used: number
  /** By this node's own time, as `freeAtMs`. */
  endsAtMs: number
  /** Units that counted, over all nodes, when the lease was given. */
  total: number
  /** When the first of them lapses; after a refusal, when there is room again. */
  freeAtMs: number
}

/** Null when the database must be asked. A refusal holds until its slot ends: hammering costs two questions a second. */
export function useLease(lease: Lease | undefined, limit: number, nowMs: number): Take | null {
  if (lease === undefined || nowMs >= lease.endsAtMs) return null
  const waitMs = Math.max(0, lease.freeAtMs - nowMs)
  if (lease.units === 0) return lease.total >= limit ? refused(limit, waitMs) : null
  lease.units--
  lease.used++
  return taken(limit, lease.total - lease.units, waitMs)
}

/** How much to lease beyond those who wait: a key that used its lease up early is in a hurry. */
export function unitsAhead(old: Lease | undefined, limit: number, nowMs: number): number {
  if (old === undefined || nowMs >= old.endsAtMs + slotMs) return 0
  const inAHurry = nowMs < old.endsAtMs
  return Math.min(inAHurry ? old.used * 2 : old.used, Math.floor(limit / 20))
}

export interface Wanted {
  limit: number
  waiting: number
  ahead: number
  /** The lease before, whose units nobody can use any more. */
  unused: Lease | undefined
  now: (() => Date) | undefined
}

export interface Granted {
  slot: number
  /** How many of those who wait. */
  served: number
  ahead: number
  slotLeftMs: number
  total: number
  waitMs: number
}

/** Takes units in the one row of the key, under its lock. */
export async function leaseUnits(tx: Tx, key: string, wanted: Wanted): Promise<Granted> {
  const { limit, unused } = wanted
  const row = await lockWindow(tx, key)
  const nowMs = (wanted.now?.() ?? row.now).getTime()
  const window: Window = { slots: row.slots, units: row.units, total: row.units.reduce((sum, units) => sum + units, 0) }
  if (unused !== undefined && unused.units > 0) returnUnits(window, unused.slot, unused.units)
  const served = takeUnits(window, nowMs, slotMs, limit, wanted.waiting)
  // Near the limit little is taken ahead: what one node holds, another must refuse.
  const spare = Math.floor((limit - window.total) / 4)
  const ahead = takeUnits(window, nowMs, slotMs, limit, Math.min(wanted.ahead, spare))
  const slot = Math.max(Math.floor(nowMs / slotMs), window.slots.at(-1) ?? 0)
  const granted = {
    slot,
    served,
    ahead,
    slotLeftMs: (slot + 1) * slotMs - nowMs,
    total: window.total,
    waitMs: waitMs(window, nowMs, slotMs, limit),
  }
  await saveWindow(tx, key, window, new Date(nowMs))
  return granted
}
