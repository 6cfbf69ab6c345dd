import { isDistributed } from './citus/distributed-sql.ts'
import type { Db, Sql } from './db.ts'

// Rows that change in any order, such as conversations listed by their last message, leave a few entries in each page
// of an index. PostgreSQL removes a page only once it is empty, so these indexes grow to four times their size.

interface RebuildLimits {
  /** Smaller indexes are not worth a rebuild. */
  minIndexBytes: number
  /** A rebuild reads the whole table, and has to end within the statement timeout. */
  maxTableBytes: number
  /** Nothing is done beside transactions that are open for longer, such as a backup: a rebuild waits for them. */
  maxWaitMs: number
}

const defaultLimits: RebuildLimits = { minIndexBytes: 1024 ** 2, maxTableBytes: 1024 ** 3, maxWaitMs: 5_000 }

/**
 * Rebuilds indexes of which more than half is free space, without blocking readers or writers. Returns their number.
 * An interrupted rebuild leaves an invalid index, which the next run drops.
 */
export async function rebuildSparseIndexes({ sql }: Pick<Db, 'sql'>, limits = defaultLimits): Promise<number> {
  if (isDistributed(sql) || (await hasTransaction(sql, limits.maxWaitMs))) return 0
  for (const { name } of await listInvalid(sql)) await sql.unsafe(`drop index concurrently if exists ${name}`)
  const sparse = await listSparse(sql, limits)
  for (const { name } of sparse) await sql.unsafe(`reindex index concurrently ${name}`)
  return sparse.length
}

async function hasTransaction(sql: Sql, olderThanMs: number): Promise<boolean> {
  const rows = await sql`
    select
    from pg_stat_activity
    where datname = current_database()
      and xact_start < clock_timestamp() - ${olderThanMs}::float8 * interval '1 ms'
      and pid <> pg_backend_pid()
    limit 1`
  return rows.length > 0
}

/** PostgreSQL appends these endings to the names of new and former indexes, with a number if the name is taken. */
const listInvalid = (sql: Sql) => sql<{ name: string }[]>`
  select x.indexrelid::regclass::text as name
  from pg_index x
  join pg_class c on c.oid = x.indexrelid
  where c.relnamespace = 'public'::regnamespace
    and c.relname ~ '_cc(new|old)[0-9]*$'
    and not x.indisvalid`

// Expects 20 bytes for an entry besides its columns, as with padding, and a tenth of each page for later entries. Leaves
// out unique indexes: few of them are by time. Partitions are dropped before they get sparse.
const listSparse = (sql: Sql, { minIndexBytes, maxTableBytes }: RebuildLimits) => sql<{ name: string }[]>`
  select x.indexrelid::regclass::text as name
  from pg_index x
  join pg_class c on c.oid = x.indexrelid
  join pg_class t on t.oid = x.indrelid
  cross join lateral (
    select sum(s.avg_width) as bytes
    from pg_attribute a
    join pg_stats s on s.schemaname = 'public' and s.tablename = t.relname and s.attname = a.attname
    where a.attrelid = t.oid
      and a.attnum = any (x.indkey)
  ) as entry
  where c.relnamespace = 'public'::regnamespace
    and c.relam = (select oid from pg_am where amname = 'btree')
    and x.indisvalid
    and not x.indisunique
    and x.indexprs is null
    and not t.relispartition
    and c.reltuples >= 0
    and pg_relation_size(c.oid) > greatest(${minIndexBytes}::bigint, 2 * c.reltuples * (entry.bytes + 20) / 0.9)
    and pg_relation_size(t.oid) <= ${maxTableBytes}::bigint
  order by name`
