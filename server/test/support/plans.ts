import { isDistributed } from '../../src/base/citus/distributed-sql.ts'
import type { Db, SentStatement, Sql } from '../../src/base/db.ts'
import { Parameter } from '../../src/base/postgres/values.ts'

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
  for (const { node, parameters, text } of await planned(db, statements, costOfDisks)) {
    const fault = faultOf(node, tables)
    if (fault !== null) bad.push(`${fault}, ${parameters} parameters: ${text}`)
  }
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
  const nodes = await planned(db, statements)
  return nodes.flatMap(({ node, text }) => {
    const { 'Index Cond': condition = '', Filter: filter = '' } = node
    const isWide = /^\(\(?(?:\w+\.)?workspace_id = [^)]*\)*$/.test(condition) || node['Node Type'] === 'Seq Scan'
    const looksFor = /\b(?:id|unique_code|external_ref|phone_index|email_index)\b/.test(filter)
    return isWide && looksFor && isOf(node, [table]) ? [`${node['Index Name'] ?? node['Node Type']}: ${text}`] : []
  })
}

/** By what the statement finds the rows of the table: names of indexes, or of other ways, for these parameters and any. */
export async function waysTo(db: Db, statement: SentStatement, table: string): Promise<string[]> {
  const nodes = await planned(db, [statement])
  const ways = nodes.flatMap(({ node }) => {
    const type = node['Node Type']
    const isOfTable = isOf(node, [table]) && type !== 'ModifyTable'
    return isOfTable || type === 'Bitmap Index Scan' ? [node['Index Name'] ?? type] : []
  })
  return [...new Set(ways)]
}

/** What the statement looks at, in rows of the table, after it has found them. */
export async function filtersOn(db: Db, statement: SentStatement, table: string): Promise<string[]> {
  const nodes = await planned(db, [statement])
  return [...new Set(nodes.flatMap(({ node }) => (isOf(node, [table]) && node.Filter ? [node.Filter] : [])))]
}

/** Of a page somewhere, on every disk that has no arm to move. */
const costOfDisks = 1.1

interface Planned {
  node: PlanNode
  parameters: 'given' | 'any'
  text: string
}

/** Every node of the statements' plans, as their parameters are and for any. None where tables are spread. */
async function planned(db: Db, statements: readonly SentStatement[], pageCost?: number): Promise<Planned[]> {
  if (isDistributed(db.sql)) return []
  return db.tx(async (tx) => {
    if (pageCost !== undefined) await tx.unsafe(`set local random_page_cost = ${pageCost}`)
    await tx`set local plan_cache_mode = force_generic_plan`
    const nodes: Planned[] = []
    for (const [n, statement] of statements.filter(isExplainable).entries()) {
      const text = statement.text.replace(/\s+/g, ' ')
      const plans = { given: await explainGiven(tx, statement), any: await explainAny(tx, statement, `plan_${n}`) }
      for (const parameters of ['given', 'any'] as const) {
        nodes.push(...nodesOf(plans[parameters]).map((node) => ({ node, parameters, text })))
      }
    }
    return nodes
  })
}

const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)]

const isExplainable = ({ text }: SentStatement) => /^\s*(?:select|insert|update|delete|with)\b/i.test(text)

async function explainGiven(tx: Sql, { text, values, types }: SentStatement): Promise<PlanNode> {
  const parameters = values.map((value, n) => new Parameter(value, types[n] ?? 0))
  const [row] = await tx.unsafe(`explain (format json, costs off) ${text}`, parameters)
  return planOf(row)
}

async function explainAny(tx: Sql, { text, values, types }: SentStatement, name: string): Promise<PlanNode> {
  const list = (items: readonly unknown[]) => (items.length === 0 ? '' : `(${items.join(', ')})`)
  const names = await typeNames(tx, types)
  await tx.unsafe(`prepare ${name} ${list(names)} as ${text}`)
  const [row] = await tx.unsafe(`explain (format json, costs off) execute ${name} ${list(values.map(() => 'null'))}`)
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

/** Whether it is of one of the tables, or a partition of it. */
const isOf = ({ 'Relation Name': relation }: PlanNode, tables: readonly string[]): boolean =>
  relation !== undefined && tables.includes(relation.replace(/_(?:default|\d{8})$/, ''))

function faultOf(node: PlanNode, tables: readonly string[]): string | null {
  const type = node['Node Type']
  if (type === 'Seq Scan' && isOf(node, tables)) return `Seq Scan on ${node['Relation Name']}`
  const isThroughAll = /^(?:Index|Index Only|Bitmap Index) Scan$/.test(type) && node['Index Cond'] === undefined
  return isThroughAll ? `${type} through all of ${node['Index Name']}` : null
}
