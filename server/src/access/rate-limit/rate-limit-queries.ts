import type { Tx } from '../../base/db.ts'

export interface RateWindowRow {
  slots: number[]
  units: number[]
  /** The database's time: nodes whose clocks differ share it. */
  now: Date
}

/** Locks the window of a key, which is made when there is none. */
export async function lockWindow(tx: Tx, key: string): Promise<RateWindowRow> {
  for (;;) {
    const [row] = await tx<RateWindowRow[]>`
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

export async function saveWindow(
  tx: Tx,
  key: string,
  { slots, units }: { slots: number[]; units: number[] },
  at: Date,
): Promise<void> {
  await tx`
    update rate_limits
    set slots = ${slots}::bigint[],
      units = ${units}::integer[],
      touched_at = ${at}
    where key = ${key}`
}

/** Removes windows that nobody has asked for lately: twice their length ago, since clocks may step back a little. */
export async function deleteIdleWindows(tx: Tx): Promise<void> {
  await tx`
    delete from rate_limits
    where touched_at < clock_timestamp() - interval '2 minutes'`
}
