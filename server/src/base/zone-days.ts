const dayMs = 86_400_000

export interface ZoneDay {
  /** `2026-03-01`, as the zone counts it. */
  date: string
  /** Its first moment. */
  start: Date
}

/** Whether the runtime knows the zone: `America/Sao_Paulo`, `UTC`. */
export function isTimeZone(zone: string): boolean {
  try {
    clockOf(zone)
    return true
  } catch {
    return false
  }
}

/** The last `count` days of a zone up to the present one, the oldest first. Where clocks are set, a day is 23 or 25 hours. */
export function lastDays(zone: string, count: number, now: Date): ZoneDay[] {
  const clock = clockOf(zone)
  const today = Date.parse(dateAt(clock, now.getTime()))
  return Array.from({ length: count }, (_, n) => {
    const midnight = today - (count - 1 - n) * dayMs
    const date = new Date(midnight).toISOString().slice(0, 10)
    return { date, start: new Date(startOf(clock, midnight, date)) }
  })
}

/** Of the two offsets in force around the day, the one under which it begins first; a day that a zone left out has none. */
function startOf(clock: Intl.DateTimeFormat, midnight: number, date: string): number {
  const starts = [midnight - dayMs, midnight + dayMs].map((near) => midnight - offsetAt(clock, near))
  const inside = starts.filter((start) => dateAt(clock, start) === date)
  return inside.length > 0 ? Math.min(...inside) : Math.max(...starts)
}

/** How far the zone's clocks are ahead of UTC. */
export function offsetAt(clock: Intl.DateTimeFormat, at: number): number {
  return Date.parse(`${textAt(clock, at).replace(' ', 'T')}Z`) - Math.floor(at / 1000) * 1000
}

export const dateAt = (clock: Intl.DateTimeFormat, at: number): string => textAt(clock, at).slice(0, 10)

/** `2026-03-01 09:00:00`: Swedish is written as ISO 8601 is. */
export const textAt = (clock: Intl.DateTimeFormat, at: number): string => clock.format(at)

export function clockOf(timeZone: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' })
}
