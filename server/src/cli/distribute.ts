import type { Command } from 'commander'
import { isDistributing, planOf, readState, type Step } from '../base/citus/distribute-tables.ts'
import { type CitusServer, type PlacedTable, problemOf, readServer } from '../base/citus/table-placement.ts'
import { processName, type Sql } from '../base/db.ts'
import { createLog } from '../base/log.ts'
import { distribute, migrate } from '../base/migrate.ts'
import { loadConfig } from '../config.ts'
import { openDatabase } from './start/database.ts'
import { answer, say, table } from './terminal.ts'

interface Choice {
  dryRun?: boolean
  json?: boolean
}

/** `parley distribute` */
export function addDistributeCommand(program: Command): void {
  program
    .command('distribute')
    .description(
      'spread the tables over the servers of a Citus, with the service stopped; a killed run is taken up again',
    )
    .option('--dry-run', 'say what there is to do, and change nothing')
    .option('--json', 'answer with JSON')
    .addHelpText(
      'after',
      '\nExample:\n  DATABASE_URL=postgres://parley@coordinator/parley parley distribute --dry-run\n',
    )
    .action(spread)
}

async function spread({ dryRun, json }: Choice): Promise<void> {
  const config = loadConfig(process.env)
  if (config.database.address === null) {
    throw new Error('The embedded database is one server. Move to an external one first: parley move.')
  }
  const { db, close } = await openDatabase(config, createLog('warn'), say)
  try {
    const server = await readServer(db.sql)
    const problem = problemOf(server)
    if (server === null || problem !== null) throw new Error(problem ?? 'Citus is not there')
    if (dryRun) return await tell(db.sql, server, json)
    await refuseOthers(db.sql)
    const startedAt = performance.now()
    let steps = 0
    const onStep = (step: Step, left: number) => {
      steps++
      say(`${wordsOf(step)} (${left} more)`)
    }
    // What was begun is ended first: a newer version may bring more tables.
    if (await isDistributing(db.sql)) await distribute(db, onStep)
    await migrate(db)
    await distribute(db, onStep)
    const seconds = Math.round((performance.now() - startedAt) / 1_000)
    const lines = steps === 0 ? ['Every table is in its place.'] : [`Every table is in its place, after ${seconds} s.`]
    answer(json, { steps, seconds }, lines)
  } finally {
    await close()
  }
}

/** Statements of a service would meet tables that are locked for hours, and none of the foreign keys. */
async function refuseOthers(sql: Sql): Promise<void> {
  const [row] = await sql<{ count: number }[]>`
    select count(distinct application_name)::integer as count
    from pg_stat_activity
    where datname = current_database()
      and application_name like 'parley %'
      and application_name <> ${processName(sql)}`
  const count = row?.count ?? 0
  if (count > 0) throw new Error(`Stop the service first: ${count} of its processes are connected to this database.`)
}

/** Nothing is changed, not even by migrations: of a database that is not up to date it tells what is there. */
async function tell(sql: Sql, server: CitusServer, json: boolean | undefined): Promise<void> {
  const state = await readState(sql)
  const { tables } = state
  const steps = planOf(state)
  const bytesOf = (kind: string) =>
    tables.filter(({ place }) => place.kind === kind).reduce((sum, { bytes }) => sum + bytes, 0)
  const { version, nodes, shards } = server
  const lines = [
    `Citus ${version}: ${nodes.length} servers keep the tables (${nodes.join(', ')}), each cut into ${shards} pieces.`,
    ...placeLines(tables),
    '',
    ...(tables.length === 0 ? ['There are no tables yet: they are made first, and then spread.'] : stepLines(steps)),
  ]
  if (steps.length > 0) {
    lines.push(
      '',
      `It needs ${sizeOf(bytesOf('spread'))} on those servers together, and ${sizeOf(bytesOf('everywhere'))} on each. The coordinator keeps what it has`,
      'until all is copied, and gives it back then. Each table is locked while it is copied: stop the service, and take a',
      'backup. Foreign keys are away meanwhile. A run that was killed is taken up by the next one.',
    )
  }
  const placed = tables.map(({ name, place, kind, rows, bytes }) => ({
    name,
    place: place.kind,
    now: kind,
    rows,
    bytes,
  }))
  answer(json, { server, tables: placed, steps }, lines)
}

const placeNames = { spread: 'spread', everywhere: 'on every server', coordinator: 'on the coordinator' } as const

function placeLines(tables: readonly PlacedTable[]): string[] {
  const rows = Object.entries(placeNames).map(([kind, words]) => {
    const these = tables.filter(({ place }) => place.kind === kind)
    const done = these.filter((one) => one.kind === kind).length
    return [`  ${words}:`, `${these.length} tables`, kind === 'coordinator' ? '' : `${done} of them already`]
  })
  return table(rows)
}

function stepLines(steps: readonly Step[]): string[] {
  if (steps.length === 0) return ['Every table is in its place: there is nothing to do.']
  return ['In this order:', ...steps.map((step, n) => `  ${n + 1}. ${wordsOf(step)}`)]
}

function wordsOf(step: Step): string {
  switch (step.kind) {
    case 'take keys away':
      return `take the foreign keys of ${step.tables.length} tables away`
    case 'copy everywhere':
      return `copy ${step.table} to every server, ${amountOf(step)}`
    case 'spread':
      return `spread ${step.table} by ${step.by}, ${amountOf(step)}`
    case 'clear':
      return `give back what the coordinator had of ${step.table}, ${sizeOf(step.bytes)}`
    case 'put key back':
      return `put the foreign key ${step.key.name} back`
    case 'end':
      return 'note that all is done'
  }
}

const amountOf = ({ rows, bytes }: { rows: number; bytes: number }) => `${rows} rows, ${sizeOf(bytes)}`

const units = ['bytes', 'KB', 'MB', 'GB', 'TB']

function sizeOf(bytes: number): string {
  const power = bytes === 0 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3))
  const size = bytes / 1_000 ** power
  return `${power > 0 && size < 10 ? size.toFixed(1) : Math.round(size)} ${units[power]}`
}
