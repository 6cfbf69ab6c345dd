import type { Clock } from './clock.ts'
import type { Db, Sql } from './db.ts'

/** Rows of a table that is worth a plan. */
const worthRows = 500
/** A session that has written tells the counts of it some seconds later. */
const toldWithinMs = 15_000
/** What no news tell of, the database itself looks at once a minute. */
const lookEveryMs = 60_000

/** Whether tables may have grown lately, by news of a topic that tells of what is written, and now and then. */
export function watchGrowth(
  { db, clock }: { db: Pick<Db, 'onNews' | 'isHearing'>; clock: Clock },
  topic: string,
): () => boolean {
  let grewAtMs = Number.NEGATIVE_INFINITY
  let lookedAtMs = Number.NEGATIVE_INFINITY
  db.onNews(topic, () => {
    grewAtMs = clock.now().getTime()
  })
  return () => {
    const nowMs = clock.now().getTime()
    const isRecent = nowMs >= lookedAtMs && nowMs < lookedAtMs + lookEveryMs
    if (db.isHearing() && isRecent && nowMs > grewAtMs + toldWithinMs) return false
    lookedAtMs = nowMs
    return true
  }
}

/**
 * Has the database count again what more than doubled since it last did: by itself it looks once a minute, and until
 * then plans for the tables that were. In the first minute of an installation it knows nothing at all, and would read a
 * workspace through to find one lead by its name. Returns how many tables there were.
 */
export async function refreshStatistics(sql: Sql): Promise<number> {
  const outgrown = await sql<{ name: string }[]>`
    select s.relid::regclass::text as name
    from pg_stat_user_tables s
    join pg_class c on c.oid = s.relid
    where s.n_live_tup > greatest(2 * c.reltuples, ${worthRows})
    order by name`
  // By itself it may be at one of them already, which does as well.
  for (const { name } of outgrown) await sql.unsafe(`analyze (skip_locked) ${name}`)
  return outgrown.length
}
