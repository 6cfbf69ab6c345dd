import type { Sql } from '../../src/base/db.ts'

interface Table {
  oid: number
  name: string
  persistence: string
  options: string[] | null
}

/**
 * The schema `public` as text: tables with their columns and constraints, indexes, and whatever else is there. The
 * same on every PostgreSQL that the service runs on.
 */
export async function describeSchema(sql: Sql): Promise<string> {
  const tables = await sql<Table[]>`
    select c.oid::integer as oid, c.relname as name, c.relpersistence as persistence, c.reloptions as options
    from pg_class c
    where c.relnamespace = 'public'::regnamespace
      and c.relkind in ('r', 'p')
    order by c.relname collate "C"`
  const parts: string[] = []
  for (const table of tables) parts.push(await describeTable(sql, table))
  const others = await describeOthers(sql)
  return [...parts, ...others].join('\n')
}

async function describeTable(sql: Sql, { oid, name, persistence, options }: Table): Promise<string> {
  const columns = await sql<{ text: string }[]>`
    select concat_ws(
        ' ',
        quote_ident(a.attname),
        format_type(a.atttypid, a.atttypmod),
        case when a.attnotnull then 'not null' end,
        'default ' || pg_get_expr(d.adbin, d.adrelid)
      ) as text
    from pg_attribute a
    left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
    where a.attrelid = ${oid}
      and a.attnum > 0
      and not a.attisdropped
    order by a.attnum`
  // PostgreSQL 18 also keeps each "not null" as a constraint of kind n.
  const constraints = await sql<{ text: string }[]>`
    select 'constraint ' || quote_ident(conname) || ' ' || pg_get_constraintdef(oid) as text
    from pg_constraint
    where conrelid = ${oid}
      and contype <> 'n'
    order by contype, conname collate "C"`
  const indexes = await sql<{ text: string }[]>`
    select replace(pg_get_indexdef(i.indexrelid), 'public.', '') || ';' as text
    from pg_index i
    join pg_class c on c.oid = i.indexrelid
    where i.indrelid = ${oid}
      and not exists (select from pg_constraint where conindid = i.indexrelid and contype in ('p', 'u', 'x'))
    order by c.relname collate "C"`
  const lines = [...columns, ...constraints].map((line) => `  ${line.text}`).join(',\n')
  const kind = persistence === 'u' ? 'unlogged table' : 'table'
  const settings = options === null ? '' : ` with (${options.join(', ')})`
  const indexLines = indexes.map((index) => `${index.text}\n`).join('')
  return `create ${kind} ${name} (\n${lines}\n)${settings};\n${indexLines === '' ? '' : `\n${indexLines}`}`
}

/** Views, sequences, functions, triggers and types: one line each, so that none comes unseen. */
async function describeOthers(sql: Sql): Promise<string[]> {
  const rows = await sql<{ text: string }[]>`
    select text
    from (
      select '-- relation of kind ' || c.relkind::text || ': ' || c.relname as text
      from pg_class c
      where c.relnamespace = 'public'::regnamespace
        and c.relkind not in ('r', 'p', 'i', 'I', 't')
      union all
      select '-- function ' || p.oid::regprocedure::text
      from pg_proc p
      where p.pronamespace = 'public'::regnamespace
      union all
      select '-- trigger ' || t.tgname || ' on ' || t.tgrelid::regclass::text
      from pg_trigger t
      where not t.tgisinternal
      union all
      select '-- type ' || t.typname
      from pg_type t
      where t.typnamespace = 'public'::regnamespace
        and t.typtype in ('e', 'd', 'r')
    ) as o
    order by text collate "C"`
  return rows.map((row) => row.text)
}
