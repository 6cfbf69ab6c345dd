const dayMs = 24 * 3_600_000
/**
 * Two weeks, from a Monday at midnight UTC on. Each part costs every statement that has to look into all of them; what is kept
 * for 30 days is in three or four of these, and leaves at most so much later.
 */
const periodMs = 14 * dayMs
const someMonday = Date.UTC(1970, 0, 5)
/** A part that is there long before it is needed only costs. */
const aheadMs = 7 * dayMs
/**
 * What begins sooner is not made any more. Until it is made, rows of its time are refused for some moments, or until whoever
 * keeps the table locked lets go: nobody's clock is as wrong as that, and nobody holds a lock for as long.
 */
const soonestMs = 2 * dayMs
/** Nobody makes a part so far ahead, unless a clock was wrong. */
const farMs = 2 * periodMs

export interface Period {
  from: Date
  /** Where the next begins. */
  to: Date
}

export function periodAt(time: Date): Period {
  const from = someMonday + Math.floor((time.getTime() - someMonday) / periodMs) * periodMs
  return { from: new Date(from), to: new Date(from + periodMs) }
}

/** The next period, while it is time to make its part. */
export function periodToMake(now: Date): Period | null {
  const { to: next } = periodAt(now)
  const leftMs = next.getTime() - now.getTime()
  return leftMs < soonestMs || leftMs > aheadMs ? null : periodAt(next)
}

/** Whether a period was made by a clock that was far ahead. */
export const isFarAhead = ({ from }: Period, now: Date): boolean => from.getTime() > now.getTime() + farMs

/** `events_20261207`: the part of a table for the period that begins on that day. */
export function partitionName(table: string, { from }: Period): string {
  return `${table}_${from.toISOString().slice(0, 10).replaceAll('-', '')}`
}

/** Null for a name that is no period's: that of the part for everything else. */
export function periodOf(table: string, name: string): Period | null {
  const [, year, month, day] = /_(\d{4})(\d\d)(\d\d)$/.exec(name) ?? []
  if (year === undefined) return null
  const period = periodAt(new Date(Date.UTC(Number(year), Number(month) - 1, Number(day))))
  return partitionName(table, period) === name ? period : null
}
