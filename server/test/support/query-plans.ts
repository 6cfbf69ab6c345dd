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
 * Returns problems of the plans for these statements: one of the tables or an index is read completely, or no statement
 * uses a table. Checks plans for the actual parameters and generic plans, which the database uses after a few
 * executions. Skipped on distributed tables: a coordinator's plan names no index.
 */
export async function findBadPlans(
  db: Db,
  statements: readonly SentStatement[],
  tables: readonly string[],
): Promise<string[]> {
  const isNamed = (table: string) => statements.some(({ text }) => new RegExp(`\\b${table}\\b`).test(text))
  const bad = tables.filter((table) => !isNamed(table)).map((table) => `No statement on ${table}`)
  for (const { node, parameters, text } of await planNodesOf(db, statements, costOfDisks)) {
    const fault = faultOf(node, tables)
    if (fault !== null) bad.push(`${fault}, ${parameters} parameters: ${text}`)
  }
  return bad
}

/** Removes the statistics of the tables, as if they had been filled before the first ANALYZE. */
export async function clearStatistics({ sql }: Db, tables: readonly string[]): Promise<void> {
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

/** Returns lookups in the table by workspace alone, other than ordered reads. Skipped like `findBadPlans`. */
export async function findWorkspaceScans(
  db: Db,
  statements: readonly SentStatement[],
  table: string,
): Promise<string[]> {
  const nodes = await planNodesOf(db, statements)
  return nodes.flatMap(({ node, text }) => {
    const { 'Index Cond': condition = '', Filter: filter = '' } = node
    const isWide = /^\(\(?(?:\w+\.)?workspace_id = [^)]*\)*$/.test(condition) || node['Node Type'] === 'Seq Scan'
    const looksFor = /\b(?:id|unique_code|external_ref|phone_index|email_index)\b/.test(filter)
    return isWide && looksFor && isOf(node, [table]) ? [`${node['Index Name'] ?? node['Node Type']}: ${text}`] : []
  })
}

/** Returns the indexes or other access methods by which the statement finds rows, in actual and generic plans. */
export async function accessPathsTo(db: Db, statement: SentStatement, table: string): Promise<string[]> {
  const nodes = await planNodesOf(db, [statement])
  const ways = nodes.flatMap(({ node }) => {
    const type = node['Node Type']
    const isOfTable = isOf(node, [table]) && type !== 'ModifyTable'
    return isOfTable || type === 'Bitmap Index Scan' ? [node['Index Name'] ?? type] : []
  })
  return [...new Set(ways)]
}

/** Returns the filters that the statement applies to rows of the table after finding them. */
export async function filtersOn(db: Db, statement: SentStatement, table: string): Promise<string[]> {
  const nodes = await planNodesOf(db, [statement])
  return [...new Set(nodes.flatMap(({ node }) => (isOf(node, [table]) && node.Filter ? [node.Filter] : [])))]
}

/** Cost of a random page on a disk without seek time. */
const costOfDisks = 1.1

interface PlannedNode {
  node: PlanNode
  parameters: 'given' | 'any'
  text: string
}

/** Returns every node of the statements' plans, with actual and generic parameters. Empty on distributed tables. */
async function planNodesOf(db: Db, statements: readonly SentStatement[], pageCost?: number): Promise<PlannedNode[]> {
  if (isDistributed(db.sql)) return []
  return db.tx(async (tx) => {
    if (pageCost !== undefined) await tx.unsafe(`set local random_page_cost = ${pageCost}`)
    await tx`set local plan_cache_mode = force_generic_plan`
    const nodes: PlannedNode[] = []
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
  if (plan === undefined) throw new Error('The database returned no plan')
  return plan
}

/** Returns whether the node reads one of the tables, or a partition of it. */
const isOf = ({ 'Relation Name': relation }: PlanNode, tables: readonly string[]): boolean =>
  relation !== undefined && tables.includes(relation.replace(/_(?:default|\d{8})$/, ''))

function faultOf(node: PlanNode, tables: readonly string[]): string | null {
  const type = node['Node Type']
  if (type === 'Seq Scan' && isOf(node, tables)) return `Seq Scan on ${node['Relation Name']}`
  const isThroughAll = /^(?:Index|Index Only|Bitmap Index) Scan$/.test(type) && node['Index Cond'] === undefined
  return isThroughAll ? `${type} through all of ${node['Index Name']}` : null
}
