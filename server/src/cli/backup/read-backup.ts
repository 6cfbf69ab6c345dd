import { createHash, type Hash } from 'node:crypto'
import type pg from 'pg'
import { loadTables, withSession } from '../../base/copy/catalog.ts'
import { sqlState } from '../../base/db.ts'
import { checkMigrations } from '../../base/migrate.ts'
import type { DatabaseAddress } from '../../base/postgres/address.ts'
import type { Config } from '../../config.ts'
import type { MediaStore } from '../../media/store/store.ts'
import { openProgress, type Progress } from '../terminal.ts'
import {
  digestOf,
  type EndMark,
  endName,
  filePrefix,
  format,
  type Head,
  hashed,
  headName,
  isEndName,
  type Snapshot,
  snapshotName,
  storeOf,
  tableOf,
} from './format.ts'
import { migrateAt } from './source.ts'
import { readTar, type TarEntry, TruncatedBackup } from './tar.ts'

export interface ReadBackup {
  head: Head
  snapshot: Snapshot
  end: EndMark
  rows: number
  /** Address of the restored database. */
  address: DatabaseAddress
}

interface RestoreTarget {
  config: Config
  /** Creates an empty database, once the keys are known to match the backup. */
  openDatabase: () => Promise<DatabaseAddress>
  checkKeys: (masterKeyIds: string[]) => void
}

/** Restores a backup into an empty database and media folder. Throws unless all of it is complete and unaltered. */
export async function readBackup(input: AsyncIterable<Uint8Array>, target: RestoreTarget): Promise<ReadBackup> {
  const reader = entriesOf(input)
  const progress = openProgress()
  try {
    const headBytes = await readEntry(await reader.take(headName))
    const head = readHead(headBytes)
    target.checkKeys(head.masterKeyIds)
    const store = storeOf(target.config)
    if (store !== null && head.filesMark !== null) await store.writeMark(head.filesMark)
    const files: FilesRead = { store, digest: createHash('sha256'), count: 0, bytes: 0 }
    await readFiles(reader, files, progress)

    const snapshotBytes = await readEntry(await reader.take(snapshotName))
    const snapshot = readJson<Snapshot>(snapshotName, snapshotBytes)
    const address = await target.openDatabase()
    await makeTables(address, snapshot)
    await readFiles(reader, files, progress)
    const digests = { head: digestOf(headBytes), snapshot: digestOf(snapshotBytes) }
    const end = await withSession(address, 'parley restore', (client) =>
      readTables(client, reader, snapshot, progress, async (tables) =>
        checkEnd(await readEnd(reader), digests, tables, files),
      ),
    )
    // Migrates a backup of an earlier version to the current one.
    await migrateAt(address)
    progress.end()
    return { head, snapshot, end, address, rows: end.tables.reduce((sum, { rows }) => sum + rows, 0) }
  } finally {
    await reader.close()
  }
}

function readHead(bytes: Buffer): Head {
  const head = readJson<Head>(headName, bytes)
  if (head.format === format) return head
  throw new Error(
    `The backup has format ${head.format}, but this version of Parley reads ${format}. Use a newer version.`,
  )
}

async function makeTables(address: DatabaseAddress, { migrations }: Snapshot): Promise<void> {
  await checkMigrations(migrations)
  await migrateAt(address, migrations.at(-1)?.number ?? 0)
}

interface FilesRead {
  store: MediaStore | null
  digest: Hash
  count: number
  bytes: number
}

async function readFiles(reader: Reader, files: FilesRead, progress: Progress): Promise<void> {
  for (;;) {
    const entry = await reader.peek()
    if (!entry.name.startsWith(filePrefix)) return
    if (files.store === null) {
      throw new Error('The backup contains files, but PARLEY_MEDIA_URL is a bucket. Omit it for the restore.')
    }
    await reader.take(entry.name)
    const name = entry.name.slice(filePrefix.length)
    files.digest.update(name)
    await files.store.put(name, hashed(files, entry.content))
    files.count++
    progress.show(0, `${files.count} files`)
  }
}

type TablesRead = EndMark['tables']

/** Loads the tables. Nothing is committed unless `check` accepts the end mark. */
async function readTables(
  client: pg.Client,
  reader: Reader,
  snapshot: Snapshot,
  progress: Progress,
  check: (tables: TablesRead) => Promise<EndMark>,
): Promise<EndMark> {
  let end: EndMark | undefined
  await loadTables(client, snapshot, async ({ fill }) => {
    const read: TablesRead = []
    for (const table of snapshot.tables) {
      progress.show(read.length / snapshot.tables.length, table.name)
      const total = { digest: createHash('sha256'), bytes: 0 }
      const bytes = hashed(total, bytesOfTable(reader, table.name))
      const rows = await fill(table, bytes).catch(translateDataError(table.name))
      read.push({ name: table.name, rows, bytes: total.bytes, sha256: total.digest.digest('hex') })
    }
    end = await check(read)
  })
  if (end === undefined) throw new TruncatedBackup()
  return end
}

/** Translates data errors: the server parses rows before their digest is checked. */
const translateDataError = (table: string) => (error: unknown) => {
  const isDataError = /^(?:22|23|08P01)/.test(sqlState(error))
  throw isDataError ? alteredError(`table ${table}`) : error
}

async function* bytesOfTable(reader: Reader, table: string): AsyncGenerator<Buffer> {
  while (tableOf((await reader.peek()).name) === table) {
    const entry = await reader.take((await reader.peek()).name)
    yield* entry.content
  }
}

async function readEnd(reader: Reader): Promise<EndMark> {
  const entry = await reader.peek()
  if (!isEndName(entry.name)) throw alteredError(entry.name)
  await reader.take(entry.name)
  const bytes = await readEntry(entry)
  if (entry.name !== endName(bytes)) throw alteredError('end mark')
  return readJson<EndMark>('end mark', bytes)
}

function checkEnd(
  end: EndMark,
  digests: { head: string; snapshot: string },
  tables: TablesRead,
  files: FilesRead,
): EndMark {
  if (end.head !== digests.head) throw alteredError(headName)
  if (end.snapshot !== digests.snapshot) throw alteredError(snapshotName)
  for (const [n, table] of tables.entries()) {
    const written = end.tables[n]
    const isSame = written?.sha256 === table.sha256 && written.rows === table.rows && written.name === table.name
    if (!isSame) throw alteredError(`table ${table.name}`)
  }
  if (tables.length !== end.tables.length) throw alteredError('list of tables')
  const isSame = files.digest.digest('hex') === end.files.sha256 && files.count === end.files.count
  if (!isSame) throw alteredError('files')
  return end
}

const alteredError = (what: string) =>
  new Error(`The backup was altered: its ${what} does not match its digest, so nothing was restored. Copy it again.`)

function readJson<T>(name: string, bytes: Buffer): T {
  try {
    return JSON.parse(bytes.toString('utf8')) as T
  } catch {
    throw alteredError(name)
  }
}

interface Reader {
  peek(): Promise<TarEntry>
  /** Throws if the next entry has another name. */
  take(name: string): Promise<TarEntry>
  close(): Promise<void>
}

/** Reads entries with a look-ahead of one. Throws `CutOff` if they end before the end mark. */
function entriesOf(input: AsyncIterable<Uint8Array>): Reader {
  const entries = readTar(input)
  let next: TarEntry | undefined
  const peek = async () => {
    if (next === undefined) {
      const { value, done } = await entries.next()
      if (done) throw new TruncatedBackup()
      next = value
    }
    return next
  }
  return {
    peek,
    take: async (name) => {
      const entry = await peek()
      if (entry.name !== name) throw new Error(`This is not a Parley backup: found ${entry.name} instead of ${name}.`)
      next = undefined
      return entry
    },
    close: async () => void (await entries.return(undefined)),
  }
}

async function readEntry({ name, bytes, content }: TarEntry): Promise<Buffer> {
  if (bytes > maxTextBytes) throw new Error(`This is not a Parley backup: its ${name} is too large.`)
  const pieces: Buffer[] = []
  for await (const piece of content) pieces.push(piece)
  return Buffer.concat(pieces)
}

const maxTextBytes = 16 * 1024 * 1024
