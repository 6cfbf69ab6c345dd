import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type pg from 'pg'
import { systemClock } from '../../base/clock.ts'
import {
  type Catalog,
  type CopiedTable,
  copyStatement,
  inSnapshot,
  loadTables,
  quoted,
  readCatalog,
  withSession,
} from '../../base/copy/catalog.ts'
import { copyOut } from '../../base/copy/copy.ts'
import { movedName } from '../../base/embedded/embedded-postgres.ts'
import type { MasterKeys } from '../../base/encryption/key-store.ts'
import { unfinishedMove } from '../../base/migrate.ts'
import { type DatabaseAddress, formatHost } from '../../base/postgres/address.ts'
import { type Config, loadConfig } from '../../config.ts'
import { openProgress, type Progress, printResult } from '../terminal.ts'
import { keyFileOf, migrateAt, requireCluster, requireMasterKeys, startEmbedded } from './source.ts'
import { type Verification, verificationLines, verifyBackup } from './verify.ts'

export interface MoveOptions {
  to: string
  json?: boolean
}

interface MoveResult {
  tables: number
  rows: number
  proof: Verification
}

const oldestVersion = 15

/** `parley move` */
export async function move({ to, json }: MoveOptions): Promise<void> {
  const config = loadConfig(process.env)
  if (config.database.url !== null) {
    throw new Error(
      'DATABASE_URL is set: the installation already has an external database. Omit it to move the embedded one.',
    )
  }
  requireCluster(config)
  const target = addressOf(to, config)
  const masterKeys = requireMasterKeys(config)
  // Locks the folder, so that no service writes data that would not be moved.
  const source = await startEmbedded(config.dataFolder)
  let moved: MoveResult
  try {
    await migrateAt(source.address)
    await withSession(target, 'parley move', requireEmptyDatabase)
    await migrateAt(target)
    moved = await moveRows(source.address, target, { config, masterKeys }).catch((error: unknown) => {
      throw new Error(
        `Nothing was moved. ${config.dataFolder} is unchanged. Start the service on it, or run this again.`,
        { cause: error },
      )
    })
  } finally {
    await source.close()
  }
  printResult(json, { ...moved, to: nameOf(target) }, movedLines(moved, target, config, masterKeys))
  if (moved.proof.findings.length > 0) process.exitCode = 1
}

/** Copies and verifies the rows. Until verification ends no service can start on them; another move can start over. */
async function moveRows(
  from: DatabaseAddress,
  target: DatabaseAddress,
  { config, masterKeys }: { config: Config; masterKeys: MasterKeys },
): Promise<MoveResult> {
  const copied = await copyAll(from, target)
  const proof = await verifyBackup({ config, address: target, masterKeys })
  await withSession(target, 'parley move', (client) => client.query('comment on table migrations is null'))
  writeFileSync(
    join(config.dataFolder, movedName),
    `${JSON.stringify({ movedAt: systemClock.now(), to: nameOf(target) })}\n`,
    { mode: 0o600, flush: true },
  )
  return { ...copied, proof }
}

/** Parses the address in the same way as the settings. */
function addressOf(to: string, config: Config): DatabaseAddress {
  const { current } = requireMasterKeys(config)
  const { database } = loadConfig({ ...process.env, DATABASE_URL: to, PARLEY_MASTER_KEY: current.toString('hex') })
  if (database.address === null) throw new Error('--to must include a database')
  return database.address
}

/** Throws unless the database is empty or has an unfinished move, whose rows are deleted; empty tables may stay. */
async function requireEmptyDatabase(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{
    version: number
    encoding: string
    tables: number
    isOurs: boolean
    isLeft: boolean | null
  }>(`
    select
      current_setting('server_version_num')::integer / 10000 as version,
      current_setting('server_encoding') as encoding,
      (
        select count(*)::integer
        from pg_class
        where relnamespace = current_schema()::regnamespace
          and relkind in ('r', 'p', 'v', 'm', 'f')
      ) as tables,
      to_regclass('migrations') is not null and to_regclass('secrets') is not null as "isOurs",
      obj_description(to_regclass('migrations'), 'pg_class') = '${unfinishedMove}' as "isLeft"`)
  const { version = 0, encoding, tables = 0, isOurs, isLeft } = rows[0] ?? {}
  if (version < oldestVersion)
    throw new Error(`Parley needs PostgreSQL ${oldestVersion} or newer; the server of --to is ${version}.`)
  if (encoding !== 'UTF8') throw new Error(`The database of --to has the encoding ${encoding}. Create one with UTF8.`)
  if (tables === 0) return
  if (isLeft) return dropRows(client)
  if (isOurs) {
    const existing = await client.query(`select 1 from secrets union all select 1 from workspaces limit 1`)
    if (existing.rows.length === 0) return
  }
  throw new Error(
    `The database of --to is not empty (${tables} tables${isOurs ? ', those of another installation of Parley' : ''}). ` +
      'Nothing was changed. Specify an empty one.',
  )
}

async function dropRows(client: pg.Client): Promise<void> {
  const { tables } = await readCatalog(client)
  await client.query(`
    begin;
    truncate ${tables.map(({ name }) => quoted(name)).join(', ')};
    comment on table migrations is null;
    commit`)
}

async function copyAll(from: DatabaseAddress, to: DatabaseAddress): Promise<Omit<MoveResult, 'proof'>> {
  const progress = openProgress()
  return withSession(from, 'parley move', (source) =>
    inSnapshot(source, async () => {
      const catalog = await readCatalog(source)
      const rows = await withSession(to, 'parley move', (target) => copyTables(source, target, catalog, progress))
      progress.end()
      return { tables: catalog.tables.length, rows }
    }),
  )
}

async function copyTables(source: pg.Client, target: pg.Client, catalog: Catalog, progress: Progress): Promise<number> {
  let total = 0
  await loadTables(target, catalog, async ({ fill }) => {
    await target.query(`comment on table migrations is '${unfinishedMove}'`)
    for (const [n, table] of catalog.tables.entries()) {
      progress.show(n / catalog.tables.length, table.name)
      total += await fill(table, copyOut(source, copyStatement(table, 'to stdout')))
      const [before, after] = await Promise.all([checksumOf(source, table), checksumOf(target, table)])
      if (before === after) continue
      throw new Error(`Table ${table.name} differs after copying (${before}, ${after}). The move was rolled back.`)
    }
  })
  return total
}

/** Returns the number of rows and an order-independent checksum of them. */
async function checksumOf(client: pg.Client, { name, columns }: CopiedTable): Promise<string> {
  const row = `row(${columns.map(quoted).join(', ')})::text`
  const { rows } = await client.query<{ sum: string }>(`
    select count(*) || ' rows, ' || coalesce(sum(('x' || substr(md5(${row}), 1, 15))::bit(60)::bigint), 0) as sum
    from ${quoted(name)}`)
  return rows[0]?.sum ?? ''
}

const nameOf = ({ hosts, database }: DatabaseAddress) => `${hosts.map(formatHost).join(', ')}, database ${database}`

function movedLines(
  { tables, rows, proof }: MoveResult,
  target: DatabaseAddress,
  config: Config,
  { previous = [] }: MasterKeys,
): string[] {
  const key =
    config.masterKey === null
      ? `  PARLEY_MASTER_KEY    the content of ${keyFileOf(config.dataFolder)}`
      : '  PARLEY_MASTER_KEY    unchanged'
  const files =
    config.media.kind === 'folder'
      ? `  PARLEY_MEDIA_URL     file://${config.media.folder}, where the files are, or where you copy them`
      : '  PARLEY_MEDIA_URL     unchanged'
  return [
    `Moved ${rows} rows of ${tables} tables to ${nameOf(target)}; row counts and checksums of every table match.`,
    ...verificationLines(proof),
    'Start the service with:',
    '  DATABASE_URL         the address of --to',
    key,
    ...(previous.length > 0
      ? ['  PARLEY_PREVIOUS_MASTER_KEYS    its earlier keys, from the files next to it or unchanged']
      : []),
    files,
    `The old data remains in ${config.dataFolder}. No service will start on it.`,
  ]
}
