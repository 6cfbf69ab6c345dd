import type { Db } from '../../../src/base/db.ts'

/** Returns a digest of the workspace's rows per table, without the last use of keys, which is written with a delay. */
export async function digestTables({ sql }: Db, workspaceId: string): Promise<Record<string, string>> {
  const tables = await sql<{ name: string }[]>`
    select c.table_name as name
    from information_schema.columns c
    join information_schema.tables t using (table_schema, table_name)
    where c.table_schema = 'public' and c.column_name = 'workspace_id' and t.table_type = 'BASE TABLE'
      and c.table_name <> 'key_calls'`
  const digests: Record<string, string> = {}
  for (const { name } of tables) {
    const [row] = await sql<{ digest: string | null }[]>`
      select md5(string_agg(line, ',' order by line)) as digest
      from ${sql(name)} t, lateral (select (to_jsonb(t) - 'last_used_at')::text as line) lines
      where workspace_id = ${workspaceId}`
    digests[name] = row?.digest ?? 'empty'
  }
  return digests
}
