// A sliding window in slots: a unit counts from its slot until the same slot has left the last 60 s *entirely*. So
// no 60 s ever hold more than the limit, at the price of one slot: a unit comes back up to `slotMs` late.

export const windowMs = 60_000

export interface Window {
  /** Slot numbers (time divided by the slot's length), oldest first. */
  slots: number[]
  /** Units taken in each of these slots. */
  units: number[]
  total: number
}

export const emptyWindow = (): Window => ({ slots: [], units: [], total: 0 })

/** Takes up to `wanted` units; returns how many the limit left room for. Changes the window. */
export function takeUnits(window: Window, nowMs: number, slotMs: number, limit: number, wanted: number): number {
  const slot = advance(window, nowMs, slotMs)
  const granted = Math.max(0, Math.min(wanted, limit - window.total))
  if (granted === 0) return 0
  const last = window.slots.length - 1
  if (window.slots[last] === slot) window.units[last] = (window.units[last] ?? 0) + granted
  else {
    window.slots.push(slot)
    window.units.push(granted)
  }
  window.total += granted
  return granted
}

/** Gives back units of a slot that were taken and never used. */
export function returnUnits(window: Window, slot: number, units: number): void {
  const at = window.slots.indexOf(slot)
  if (at === -1) return
  const returned = Math.min(units, window.units[at] ?? 0)
  window.units[at] = (window.units[at] ?? 0) - returned
  window.total -= returned
}

/** Milliseconds until fewer than `limit` units count; with none to wait for, until the oldest one lapses. */
export function waitMs(window: Window, nowMs: number, slotMs: number, limit: number): number {
  const slot = advance(window, nowMs, slotMs)
  let surplus = Math.max(1, window.total - limit + 1)
  for (const [at, units] of window.units.entries()) {
    surplus -= units
    const lapsesAtMs = ((window.slots[at] ?? slot) + slotsHeld(slotMs)) * slotMs
    if (surplus <= 0) return Math.max(0, lapsesAtMs - nowMs)
  }
  return 0
}

// Drops what has lapsed and returns the slot of this moment. A clock that steps back must neither forget units nor
// lock a key until it has caught up: up to a window's length it stands still, beyond that the units count as new.
function advance(window: Window, nowMs: number, slotMs: number): number {
  const slot = Math.floor(nowMs / slotMs)
  const newest = window.slots.at(-1) ?? slot
  const held = slotsHeld(slotMs)
  if (slot < newest - held && window.total > 0) {
    window.slots = [slot]
    window.units = [window.total]
    return slot
  }
  while (window.slots.length > 0 && (window.slots[0] ?? 0) <= slot - held) {
    window.total -= window.units.shift() ?? 0
    window.slots.shift()
  }
  return Math.max(slot, window.slots.at(-1) ?? slot)
}

// Slots that still count, with the present one: those that a window of 60 s ending now can touch.
function slotsHeld(slotMs: number): number {
  return windowMs / slotMs + 1
}
