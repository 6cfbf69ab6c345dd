import type { Db, SentStatement, Sql } from '../../src/base/db.ts'
import { isSpread } from '../../src/base/distribution/spread.ts'
import type { Value } from '../../src/base/postgres/values.ts'

interface PlanNode {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  'Index Cond'?: string
  Filter?: string
  Plans?: PlanNode[]
}

/**
 * What is wrong with how the database would run these: one of the tables read from end to end, or an index; or a table
 * that none of them names. Both as the parameters are and as it would plan for any parameters, which it does once a
 * statement has run a few times. Where tables are spread nothing is asked: what a coordinator says of a plan names no index.
 */
export async function badPlans(
  db: Db,
  statements: readonly SentStatement[],
  tables: readonly string[],
): Promise<string[]> {
  const isNamed = (table: string) => statements.some(({ text }) => new RegExp(`\\b${table}\\b`).test(text))
  const bad = tables.filter((table) => !isNamed(table)).map((table) => `No statement on ${table}`)
  if (isSpread(db.sql)) return bad
  await db.tx(async (tx) => {
    // As on every disk that has no arm to move.
    await tx`set local random_page_cost = 1.1`
    await tx`set local plan_cache_mode = force_generic_plan`
    for (const [n, statement] of statements.filter(isExplainable).entries()) {
      const plans = { given: await explainGiven(tx, statement), any: await explainAny(tx, statement, `plan_${n}`) }
      for (const [parameters, plan] of Object.entries(plans)) {
        bad.push(
          ...faults(plan, tables).map(
            (fault) => `${fault}, ${parameters} parameters: ${statement.text.replace(/\s+/g, ' ')}`,
          ),
        )
      }
    }
  })
  return bad
}

/** As if the tables had been filled so lately that the database has not counted them yet. */
export async function forgetStatistics({ sql }: Db, tables: readonly string[]): Promise<void> {
  const rows = await sql<{ name: string }[]>`
    select inhrelid::regclass::text as name
    from pg_inherits
    where inhparent = any (${[...tables]}::regclass[])`
  const all = [...tables, ...rows.map(({ name }) => name)]
  await sql`delete from pg_statistic where starelid = any (${all}::regclass[])`
  await sql`
    update pg_class
    set reltuples = -1, relpages = 0
    where oid = any (${all}::regclass[])
      or oid in (select indexrelid from pg_index where indrelid = any (${all}::regclass[]))`
}

/** Where rows of the table are looked for by nothing but their workspace, for other ends than reading them in order; asked as for `badPlans`. */
export async function wideLooks(db: Db, statements: readonly SentStatement[], table: string): Promise<string[]> {
  const wide: string[] = []
  if (isSpread(db.sql)) return wide
  const look = (node: PlanNode, text: string) => {
    const { 'Index Cond': condition = '', 'Relation Name': relation, Filter: filter = '' } = node
    const isWide = /^\(\(?(?:\w+\.)?workspace_id = [^)]*\)*$/.test(condition) || node['Node Type'] === 'Seq Scan'
    if (
      isOf(relation, [table]) &&
      isWide &&
      /\b(?:id|unique_code|external_ref|phone_index|email_index)\b/.test(filter)
    ) {
      wide.push(`${node['Index Name'] ?? node['Node Type']}: ${text.replace(/\s+/g, ' ')}`)
    }
    for (const each of node.Plans ?? []) look(each, text)
  }
  await db.tx(async (tx) => {
    for (const [n, statement] of statements.filter(isExplainable).entries()) {
      await tx`set local plan_cache_mode = force_custom_plan`
      look(await explainGiven(tx, statement), statement.text)
      await tx`set local plan_cache_mode = force_generic_plan`
      look(await explainAny(tx, statement, `wide_${n}`), statement.text)
    }
  })
  return wide
}

/** By what the statement finds the rows of the table: names of indexes, or of other ways, for these parameters and any. */
export async function waysTo(db: Db, statement: SentStatement, table: string): Promise<string[]> {
  const ways = new Set<string>()
  const look = (node: PlanNode) => {
    const type = node['Node Type']
    const isOfTable = isOf(node['Relation Name'], [table]) && type !== 'ModifyTable'
    if (isOfTable || type === 'Bitmap Index Scan') ways.add(node['Index Name'] ?? type)
    for (const each of node.Plans ?? []) look(each)
  }
  await db.tx(async (tx) => {
    look(await explainGiven(tx, statement))
    await tx`set local plan_cache_mode = force_generic_plan`
    look(await explainAny(tx, statement, 'plan_of_way'))
  })
  return [...ways]
}

/** What the statement looks at, in rows of the table, after it has found them. */
export async function filtersOn(db: Db, statement: SentStatement, table: string): Promise<string[]> {
  const filters = new Set<string>()
  const look = (node: PlanNode) => {
    if (isOf(node['Relation Name'], [table]) && node.Filter !== undefined) filters.add(node.Filter)
    for (const each of node.Plans ?? []) look(each)
  }
  await db.tx(async (tx) => {
    look(await explainGiven(tx, statement))
    await tx`set local plan_cache_mode = force_generic_plan`
    look(await explainAny(tx, statement, 'plan_of_filters'))
  })
  return [...filters]
}

const isExplainable = ({ text }: SentStatement) => /^\s*(?:select|insert|update|delete|with)\b/i.test(text)

async function explainGiven(tx: Sql, { text, parameters }: SentStatement): Promise<PlanNode> {
  const [row] = await tx.unsafe(`explain (format json, costs off) ${text}`, parameters as Value[])
  return planOf(row)
}

async function explainAny(tx: Sql, { text, parameters, types }: SentStatement, name: string): Promise<PlanNode> {
  const list = (items: readonly unknown[]) => (items.length === 0 ? '' : `(${items.join(', ')})`)
  const names = await typeNames(tx, types)
  await tx.unsafe(`prepare ${name} ${list(names)} as ${text}`)
  const [row] = await tx.unsafe(
    `explain (format json, costs off) execute ${name} ${list(parameters.map(() => 'null'))}`,
  )
  await tx.unsafe(`deallocate ${name}`)
  return planOf(row)
}

async function typeNames(tx: Sql, types: readonly number[]): Promise<string[]> {
  return Promise.all(
    types.map(async (type) => {
      if (type === 0) return 'unknown'
      const [row] = await tx<{ name: string }[]>`select format_type(${type}::bigint::oid, null) as name`
      return row?.name ?? 'unknown'
    }),
  )
}

function planOf(row: Record<string, unknown> | undefined): PlanNode {
  const explained = row?.['QUERY PLAN'] as { Plan: PlanNode }[] | undefined
  const plan = explained?.[0]?.Plan
  if (plan === undefined) throw new Error('The database explained nothing')
  return plan
}

/** Whether it is one of the tables, or a partition of it. */
const isOf = (relation: string | undefined, tables: readonly string[]): boolean =>
  relation !== undefined && tables.includes(relation.replace(/_(?:default|\d{8})$/, ''))

function faults(node: PlanNode, tables: readonly string[]): string[] {
  const below = (node.Plans ?? []).flatMap((each) => faults(each, tables))
  const table = node['Relation Name']
  const type = node['Node Type']
  if (type === 'Seq Scan' && isOf(table, tables)) return [`Seq Scan on ${table}`, ...below]
  if (/^(?:Index|Index Only|Bitmap Index) Scan$/.test(type) && node['Index Cond'] === undefined) {
    return [`${type} through all of ${node['Index Name']}`, ...below]
  }
  return below
}
