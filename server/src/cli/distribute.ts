import type { Command } from 'commander'
import { type DistributionStep, isDistributing, planSteps, readState } from '../base/citus/distribute-tables.ts'
import { type CitusServer, findProblem, type PlacedTable, readServer } from '../base/citus/table-placement.ts'
import { processName, type Sql } from '../base/db.ts'
import { createLog } from '../base/log.ts'
import { distribute, migrate } from '../base/migrate.ts'
import { loadConfig } from '../config.ts'
import { openDatabase } from './start/database.ts'
import { printMessage, printResult, table } from './terminal.ts'

interface DistributeOptions {
  dryRun?: boolean
  json?: boolean
}

/** `parley distribute` */
export function addDistributeCommand(program: Command): void {
  program
    .command('distribute')
    .description(
      'distribute the tables over a Citus cluster, with the service stopped; can be repeated after an interruption',
    )
    .option('--dry-run', 'print what would be done, without changing anything')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExample:\n  DATABASE_URL=postgres://parley@coordinator/parley parley distribute --dry-run\n',
    )
    .action(distributeTables)
}

async function distributeTables({ dryRun, json }: DistributeOptions): Promise<void> {
  const config = loadConfig(process.env)
  if (config.database.address === null) {
    throw new Error('The embedded database cannot be distributed. Move to an external one first: parley move.')
  }
  const { db, close } = await openDatabase(config, createLog('warn'), printMessage)
  try {
    const server = await readServer(db.sql)
    const problem = findProblem(server)
    if (server === null || problem !== null) throw new Error(problem ?? 'Citus is not there')
    if (dryRun) return await printPlan(db.sql, server, json)
    await requireStoppedService(db.sql)
    const startedAt = performance.now()
    let steps = 0
    const onStep = (step: DistributionStep, left: number) => {
      steps++
      printMessage(`${describeStep(step)} (${left} more)`)
    }
    // Completes an interrupted run first, because a newer version may add tables.
    if (await isDistributing(db.sql)) await distribute(db, onStep)
    await migrate(db)
    await distribute(db, onStep)
    const seconds = Math.round((performance.now() - startedAt) / 1_000)
    const lines = steps === 0 ? ['All tables are distributed.'] : [`All tables are distributed, after ${seconds} s.`]
    printResult(json, { steps, seconds }, lines)
  } finally {
    await close()
  }
}

/** Throws if a service is connected: its statements would meet tables locked for hours, and no foreign keys. */
async function requireStoppedService(sql: Sql): Promise<void> {
  const [row] = await sql<{ count: number }[]>`
    select count(distinct application_name)::integer as count
    from pg_stat_activity
    where datname = current_database()
      and application_name like 'parley %'
      and application_name <> ${processName(sql)}`
  const count = row?.count ?? 0
  if (count > 0) throw new Error(`Stop the service first: ${count} of its processes are connected to this database.`)
}

/** Prints the plan. Changes nothing, not even by migrations, so it shows the tables as they are. */
async function printPlan(sql: Sql, server: CitusServer, json: boolean | undefined): Promise<void> {
  const state = await readState(sql)
  const { tables } = state
  const steps = planSteps(state)
  const bytesOf = (kind: string) =>
    tables.filter(({ placement }) => placement.kind === kind).reduce((sum, { bytes }) => sum + bytes, 0)
  const { version, nodes, shards } = server
  const lines = [
    `Citus ${version}: ${nodes.length} worker nodes (${nodes.join(', ')}), ${shards} shards per table.`,
    ...placeLines(tables),
    '',
    ...(tables.length === 0
      ? ['There are no tables yet: they are created first and then distributed.']
      : stepLines(steps)),
  ]
  if (steps.length > 0) {
    lines.push(
      '',
      `Requires ${sizeOf(bytesOf('spread'))} on the nodes in total, and ${sizeOf(bytesOf('everywhere'))} on each. The coordinator keeps its copies`,
      'until all is copied, and then frees the space. Each table is locked while it is copied: stop the service and take a',
      'backup. Foreign keys are dropped meanwhile. An interrupted run is continued by the next one.',
    )
  }
  const placed = tables.map(({ name, placement, kind, rows, bytes }) => ({
    name,
    place: placement.kind,
    now: kind,
    rows,
    bytes,
  }))
  printResult(json, { server, tables: placed, steps }, lines)
}

const placeNames = { spread: 'distributed', everywhere: 'on every node', coordinator: 'on the coordinator' } as const

function placeLines(tables: readonly PlacedTable[]): string[] {
  const rows = Object.entries(placeNames).map(([kind, words]) => {
    const these = tables.filter(({ placement }) => placement.kind === kind)
    const done = these.filter((one) => one.kind === kind).length
    return [`  ${words}:`, `${these.length} tables`, kind === 'coordinator' ? '' : `${done} done`]
  })
  return table(rows)
}

function stepLines(steps: readonly DistributionStep[]): string[] {
  if (steps.length === 0) return ['All tables are distributed: there is nothing to do.']
  return ['Steps:', ...steps.map((step, n) => `  ${n + 1}. ${describeStep(step)}`)]
}

function describeStep(step: DistributionStep): string {
  switch (step.kind) {
    case 'take keys away':
      return `drop the foreign keys of ${step.tables.length} tables`
    case 'copy everywhere':
      return `copy ${step.table} to every node, ${amountOf(step)}`
    case 'spread':
      return `distribute ${step.table} by ${step.by}, ${amountOf(step)}`
    case 'clear':
      return `free the coordinator's copy of ${step.table}, ${sizeOf(step.bytes)}`
    case 'put key back':
      return `restore the foreign key ${step.key.name}`
    case 'end':
      return 'record completion'
  }
}

const amountOf = ({ rows, bytes }: { rows: number; bytes: number }) => `${rows} rows, ${sizeOf(bytes)}`

const units = ['bytes', 'KB', 'MB', 'GB', 'TB']

function sizeOf(bytes: number): string {
  const power = bytes === 0 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3))
  const size = bytes / 1_000 ** power
  return `${power > 0 && size < 10 ? size.toFixed(1) : Math.round(size)} ${units[power]}`
}
