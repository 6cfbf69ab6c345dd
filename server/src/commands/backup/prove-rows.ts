import type pg from 'pg'
import type { Db } from '../../base/db.ts'
import { type MediaStore, pathOf } from '../../media/store/store.ts'

// What is looked for in all rows, however many: by a session that lets statements take their time, in one snapshot, and
// without holding more in memory than a page.

const maxAhead = 50

/**
 * A feed gives no place twice (of one part of the table, its index sees to that), and none beyond what it says was its last.
 * What was removed from it may be there until its period is dropped. Returns how many events there are.
 */
export async function proveFeeds(client: pg.Client, findings: string[]): Promise<number> {
  const { rows } = await client.query<Record<'id' | 'last' | 'highest' | 'twice' | 'count', string>>(`
    select
      e.workspace_id as id,
      coalesce(f.last_position, 0) as last,
      coalesce(max(e.position), 0) as highest,
      count(e.position) - count(distinct e.position) as twice,
      count(*) as count
    from events e
    left join event_feeds f on f.workspace_id = e.workspace_id
    group by e.workspace_id, f.last_position`)
  let events = 0
  for (const { id, ...figures } of rows) {
    const [last, highest, twice] = [Number(figures.last), Number(figures.highest), Number(figures.twice)]
    events += Number(figures.count)
    if (highest > last)
      findings.push(`events of workspace ${id}: one has place ${highest}, and the feed ends at ${last}`)
    if (twice > 0) findings.push(`events of workspace ${id}: ${twice} have a place that another has too`)
  }
  const ahead = await client.query<{ id: string }>(`
    select q.endpoint_id as id
    from webhook_queues q
    left join event_feeds f on f.workspace_id = q.workspace_id
    where q.cursor > coalesce(f.last_position, 0)
    limit ${maxAhead}`)
  for (const { id } of ahead.rows) findings.push(`webhook endpoint ${id} is beyond the end of its feed`)
  return events
}

const pageSize = 1000
const maxAskedAgain = 1000

/**
 * Looks for every file that rows name, and returns how many they name. The names of the snapshot and those of the store come
 * in one order and are walked side by side. A file is there before its row, so it may be missing only if it was erased since,
 * with its row: those are asked for again by `db`, outside the snapshot.
 */
export async function proveFiles(client: pg.Client, db: Db, store: MediaStore, findings: string[]): Promise<number> {
  const stored = pathsIn(store)
  let [named, missing] = [0, 0]
  const doubtful: string[] = []
  let at = await stored.next()
  for await (const name of namesIn(client)) {
    named++
    const path = pathOf(name)
    while (!at.done && at.value < path) at = await stored.next()
    if (at.value === path) continue
    missing++
    if (doubtful.length < maxAskedAgain) doubtful.push(name)
  }
  missing -= doubtful.length - (await stillNamed(db, doubtful))
  if (missing > 0) findings.push(`files: ${missing} of ${named} that rows name are not in ${store.words}`)
  return named
}

async function* pathsIn(store: MediaStore): AsyncGenerator<string, undefined> {
  for (let after: string | null = null; ; ) {
    const files = await store.list(after, pageSize)
    for (const { name } of files) yield pathOf(name)
    if (files.length < pageSize) return
    after = files.at(-1)?.name ?? null
  }
}

/** In the order of their paths in the store. */
async function* namesIn(client: pg.Client): AsyncGenerator<string> {
  await client.query(`
    declare named no scroll cursor for
    select name
    from (
      select stored_as::text as name from media where stored_as is not null
      union all
      select preview_stored_as::text from media where preview_stored_as is not null
    ) as names
    order by substr(name, 35) collate "C", substr(name, 33, 2) collate "C", name collate "C"`)
  for (;;) {
    const { rows } = await client.query<{ name: string }>(`fetch ${pageSize} from named`)
    for (const { name } of rows) yield name
    if (rows.length < pageSize) return
  }
}

async function stillNamed(db: Db, names: string[]): Promise<number> {
  if (names.length === 0) return 0
  const rows = await db.sql`
    select stored_as as name from media where stored_as = any (${names}::uuid[])
    union
    select preview_stored_as from media where preview_stored_as = any (${names}::uuid[])`
  return rows.length
}
