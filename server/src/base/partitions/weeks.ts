const dayMs = 24 * 3_600_000
const weekMs = 7 * dayMs
/** Weeks begin on Mondays, at midnight UTC. */
const someMonday = Date.UTC(1970, 0, 5)
/**
 * A week that begins sooner is not made any more. Until it is made, rows of its time are refused for some moments of an
 * upgrade: nobody's clock is as wrong as that.
 */
const soonestMs = 2 * dayMs
/** Nobody makes a week so far ahead, unless a clock was wrong. */
const farMs = 5 * weekMs

export interface Week {
  from: Date
  /** Where the next begins. */
  to: Date
}

export function weekAt(time: Date): Week {
  const from = someMonday + Math.floor((time.getTime() - someMonday) / weekMs) * weekMs
  return { from: new Date(from), to: new Date(from + weekMs) }
}

/** The next week, as long as there is time to make it in peace; null after that. */
export function weekToMake(now: Date): Week | null {
  const { to: next } = weekAt(now)
  return next.getTime() - now.getTime() < soonestMs ? null : weekAt(next)
}

/** Whether a week was made by a clock that was far ahead. */
export const isFarAhead = ({ from }: Week, now: Date): boolean => from.getTime() > now.getTime() + farMs

/** `events_20261207`: the part of a table for the week that begins on that day. */
export function partitionName(table: string, { from }: Week): string {
  return `${table}_${from.toISOString().slice(0, 10).replaceAll('-', '')}`
}

/** Null for a name that is no week's: that of the part for everything else. */
export function weekOf(table: string, name: string): Week | null {
  const [, year, month, day] = /_(\d{4})(\d\d)(\d\d)$/.exec(name) ?? []
  if (year === undefined) return null
  const week = weekAt(new Date(Date.UTC(Number(year), Number(month) - 1, Number(day))))
  return partitionName(table, week) === name ? week : null
}
