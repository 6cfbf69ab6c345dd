import { createHash } from 'node:crypto'
import { createWriteStream, existsSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { finished } from 'node:stream/promises'
import type pg from 'pg'
import { systemClock } from '../../base/clock.ts'
import {
  type CopiedTable,
  copyStatement,
  inSnapshot,
  readAppliedMigrations,
  readCatalog,
  withSession,
} from '../../base/copy/catalog.ts'
import { copyOut } from '../../base/copy/copy.ts'
import { version } from '../../base/version.ts'
import { type Config, loadConfig } from '../../config.ts'
import { openProgress, type Progress, printMessage, printResult } from '../terminal.ts'
import {
  bytesOfJson,
  copyFiles,
  digestOf,
  type EndMark,
  endName,
  type FileCopy,
  format,
  type Head,
  headName,
  namedFiles,
  partName,
  type Snapshot,
  snapshotName,
  storeOf,
} from './format.ts'
import {
  checkMasterKeys,
  type DatabaseSource,
  keyFileOf,
  openEmbedded,
  requireMasterKeys,
  writeKeysFile,
} from './source.ts'
import { type TarWriter, writeTar } from './tar.ts'

export interface BackupOptions {
  to: string
  keys?: string
  json?: boolean
}

/** `parley backup` */
export async function backUp({ to, keys, json }: BackupOptions): Promise<void> {
  const config = loadConfig(process.env)
  if (config.database.url !== null) throw new Error(externalAdvice(config))
  if (to === '-' && json)
    throw new Error('--json cannot be used with --to -, which writes the backup to standard output.')
  if (keys !== undefined && existsSync(keys)) throw new Error(`${keys} already exists. Specify another file.`)
  const source = await openEmbedded(config)
  try {
    const target = to === '-' ? standardOutput() : newFile(resolve(to))
    const end = await writeTo(target, source, config)
    if (keys !== undefined) writeKeysFile(keys, requireMasterKeys(config))
    printSummary(end, config, { to, keys, json, bytes: target.tar.bytes })
  } finally {
    await source.close()
  }
}

async function writeTo(
  { tar, finish, drop }: Target,
  { address }: DatabaseSource,
  config: Config,
): Promise<WrittenBackup> {
  try {
    const end = await withSession(address, 'parley backup', (client) => writeBackup(client, config, tar))
    await finish()
    return end
  } catch (error) {
    await drop()
    throw error
  }
}

type WrittenBackup = EndMark & { takenAt: string }

async function writeBackup(client: pg.Client, config: Config, tar: TarWriter): Promise<WrittenBackup> {
  const progress = openProgress()
  const store = storeOf(config)
  const masterKeyIds = await listMasterKeys(client)
  checkMasterKeys(requireMasterKeys(config), masterKeyIds)
  const head: Head = {
    format,
    parley: version,
    startedAt: systemClock.now().toISOString(),
    masterKeyIds,
    filesMark: (await store?.readMark()) ?? null,
  }
  const headBytes = bytesOfJson(head)
  await tar.add(headName, headBytes)
  // Files are stored before their rows, so first copies the files present now, then those that the snapshot's rows
  // refer to.
  const files: FileCopy = { tar, store, seen: new Set(), digest: createHash('sha256'), bytes: 0, missing: 0 }
  await copyFiles(files, null, progress)
  const end = await inSnapshot(client, async (takenAt) => {
    const snapshot = await readSnapshot(client, takenAt)
    const snapshotBytes = bytesOfJson(snapshot)
    await tar.add(snapshotName, snapshotBytes)
    await copyFiles(files, await namedFiles(client), progress)
    const tables = await copyTables(client, snapshot.tables, tar, progress)
    return {
      finishedAt: systemClock.now().toISOString(),
      takenAt: snapshot.takenAt,
      head: digestOf(headBytes),
      snapshot: digestOf(snapshotBytes),
      tables,
      files: { count: files.seen.size, bytes: files.bytes, missing: files.missing, sha256: files.digest.digest('hex') },
    }
  })
  const bytes = bytesOfJson(end)
  await tar.add(endName(bytes), bytes)
  await tar.end()
  progress.end()
  return end
}

async function listMasterKeys(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ id: string }>('select distinct master_key_id as id from secrets order by 1')
  return rows.map(({ id }) => id)
}

async function readSnapshot(client: pg.Client, takenAt: Date): Promise<Snapshot> {
  const { rows } = await client.query<{ version: string }>(`select current_setting('server_version') as version`)
  const migrations = await readAppliedMigrations(client)
  return {
    takenAt: takenAt.toISOString(),
    postgres: rows[0]?.version ?? '',
    migrations,
    ...(await readCatalog(client)),
  }
}

async function copyTables(
  client: pg.Client,
  tables: readonly CopiedTable[],
  tar: TarWriter,
  progress: Progress,
): Promise<EndMark['tables']> {
  const sizes = await sizesOf(client)
  const total = tables.reduce((sum, { name }) => sum + (sizes.get(name) ?? 0), 1)
  let before = 0
  const copied: EndMark['tables'] = []
  for (const table of tables) {
    const digest = createHash('sha256')
    let [bytes, part] = [0, 0]
    const source = copyOut(client, copyStatement(table, 'to stdout'))
    let next = await source.next()
    for (; !next.done; next = await source.next()) {
      const block = next.value
      part++
      bytes += block.length
      digest.update(block)
      await tar.add(partName(table.name, part), block)
      progress.show(before / total, `${megabytes(tar.bytes)}, ${table.name}`)
    }
    before += sizes.get(table.name) ?? 0
    copied.push({ name: table.name, rows: next.value, bytes, sha256: digest.digest('hex') })
  }
  return copied
}

async function sizesOf(client: pg.Client): Promise<Map<string, number>> {
  const { rows } = await client.query<{ name: string; bytes: string }>(`
    select coalesce(pg_partition_root(oid)::regclass, oid::regclass)::text as name, sum(pg_table_size(oid))::text as bytes
    from pg_class
    where relnamespace = current_schema()::regnamespace
      and relkind = 'r'
    group by 1`)
  return new Map(rows.map(({ name, bytes }) => [name, Number(bytes)]))
}

interface Target {
  tar: TarWriter
  /** Moves the completed file to its final name. */
  finish(): Promise<void>
  drop(): Promise<void>
}

/** Creates a file with a temporary name until it is complete. */
function newFile(path: string): Target {
  if (existsSync(path)) throw new Error(`${path} already exists. Specify another file, or remove it.`)
  if (!existsSync(dirname(path))) throw new Error(`Folder ${dirname(path)} not found.`)
  const part = `${path}.part`
  const to = createWriteStream(part, { mode: 0o600, flush: true })
  return {
    tar: writeTar(to),
    finish: async () => {
      to.end()
      await finished(to)
      await rename(part, path)
      await syncFolder(dirname(path))
    },
    drop: async () => {
      to.destroy()
      await rm(part, { force: true })
    },
  }
}

async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return
  const folder = await open(path)
  await folder.sync().finally(() => folder.close())
}

function standardOutput(): Target {
  if (process.stdout.isTTY) throw new Error('Standard output is a terminal. Redirect it, or specify a file.')
  return {
    tar: writeTar(process.stdout),
    finish: () => new Promise((resolve) => process.stdout.end(resolve)),
    drop: async () => {},
  }
}

const megabytes = (bytes: number) => `${(bytes / 1024 / 1024).toFixed(1)} MiB`

interface SummaryOptions extends BackupOptions {
  bytes: number
}

function printSummary(end: WrittenBackup, config: Config, { to, keys, json, bytes }: SummaryOptions): void {
  const rows = end.tables.reduce((sum, table) => sum + table.rows, 0)
  const { count, missing } = end.files
  const where =
    keys === undefined
      ? `without them nobody can read it. They are in ${config.masterKey === null ? keyFileOf(config.dataFolder) : 'PARLEY_MASTER_KEY'}: store a copy separately from the backup.`
      : `they are in ${keys}: store that file separately from the backup.`
  const lines = [
    `${to === '-' ? 'Standard output' : to}: ${megabytes(bytes)}, ${rows} rows, ${count} files. Includes every write acknowledged before ${end.takenAt}.`,
    ...(missing > 0 ? [`${missing} referenced files were missing in the store.`] : []),
    ...(config.media.kind === 's3' ? ['The files are in a bucket and not included: back them up separately.'] : []),
    `The master keys are not included, and ${where}`,
  ]
  if (to === '-') for (const line of lines) printMessage(line)
  else
    printResult(
      json,
      { to, bytes, rows, files: count, missingFiles: missing, takenAt: end.takenAt, keys: keys ?? null },
      lines,
    )
}

/** Returns how to back up an external database with its own tools. */
function externalAdvice({ database, media }: Config): string {
  const url = withoutPassword(database.directUrl ?? database.url ?? '')
  const files =
    media.kind === 'folder'
      ? `cp -a ${media.folder} /backup/parley-files`
      : `aws s3 sync s3://${media.bucket}/${media.prefix} /backup/parley-files`
  return [
    'Nothing was backed up. Use PostgreSQL’s tools to back up an external database.',
    'To back up while the service runs, with the password in PGPASSWORD:',
    `  pg_dump --format=custom --file=parley.dump "${url}"`,
    `  ${files}    (after the dump, so that it includes every referenced file)`,
    'For point-in-time recovery: pgBackRest, or pg_basebackup with WAL archiving.',
    'PARLEY_MASTER_KEY is in neither: store it separately. To restore into an empty database and verify it:',
    '  pg_restore --no-owner --dbname="$DATABASE_URL" parley.dump',
    '  parley prove',
  ].join('\n')
}

function withoutPassword(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null) return 'postgres://…'
  url.password = ''
  url.searchParams.delete('password')
  return url.href
}
