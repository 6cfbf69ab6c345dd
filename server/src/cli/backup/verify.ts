import type pg from 'pg'
import { keyedTables } from '../../app/tables.ts'
import { systemClock } from '../../base/clock.ts'
import { inSnapshot, withSession } from '../../base/copy/catalog.ts'
import { type Db, openDb, type Sql } from '../../base/db.ts'
import {
  type EncryptedTable,
  instanceScope,
  type KeyedRow,
  type KeyStore,
  type MasterKeys,
  openKeyStore,
} from '../../base/encryption/key-store.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { checkMigrations } from '../../base/migrate.ts'
import type { DatabaseAddress } from '../../base/postgres/address.ts'
import { type Config, loadConfig } from '../../config.ts'
import { openStore } from '../../media/open-store.ts'
import { type MediaStore, storePath } from '../../media/store/store.ts'
import { describeProblem, printResult } from '../terminal.ts'
import { openEmbedded, requireMasterKeys } from './source.ts'

export interface Verification {
  migration: string
  workspaces: number
  /** Number of decrypted values: up to 20 rows per table, for 100 workspaces. */
  opened: number
  /** Number of files that rows refer to; null if the store could not be opened. */
  files: number | null
  events: number
  findings: string[]
}

export interface VerifyDeps {
  config: Config
  address: DatabaseAddress
  masterKeys: MasterKeys
}

interface VerifyContext {
  db: Db
  keyStore: KeyStore
  findings: string[]
}

const [sampledWorkspaces, sampledRows, maxFindings] = [100, 20, 50]

/** Checks that database, keys and files match and are complete. Changes nothing but the marker of our media store. */
export async function verifyBackup({ config, address, masterKeys }: VerifyDeps): Promise<Verification> {
  const db = openDb({ address, maxConnections: 2 })
  const keyStore = openKeyStore(db, masterKeys, systemClock)
  const context: VerifyContext = { db, keyStore, findings: [] }
  try {
    const migration = await verifyMigrations(context)
    const scopes = await verifyKeyrings(context)
    const opened = await verifyEncrypted(context, scopes)
    const { events, files } = await verifyRows(context, { config, address, masterKeys }, scopes.has(instanceScope))
    const workspaces = [...scopes.keys()].filter((scope) => scope !== instanceScope).length
    return { migration, workspaces, opened, files, events, findings: context.findings.slice(0, maxFindings) }
  } finally {
    await db.close()
  }
}

export function verificationLines({ migration, workspaces, opened, files, events, findings }: Verification): string[] {
  const found = [
    `The database is at migration ${migration}. Decrypted ${opened} values of ${workspaces} workspaces.`,
    `Checked the order of ${events} events and the presence of ${files ?? 'no'} files.`,
  ]
  if (findings.length === 0) return [...found, 'No problems found.']
  return [...found, ...findings.map((finding) => `PROBLEM: ${finding}`)]
}

async function verifyMigrations({ db, findings }: VerifyContext): Promise<string> {
  try {
    const applied = await db.sql<{ number: number; name: string; checksum: string }[]>`
      select number, name, checksum
      from migrations
      order by number`
    await checkMigrations(applied)
    return applied.at(-1)?.name ?? 'none'
  } catch (error) {
    findings.push(describeProblem(error))
    return 'none'
  }
}

/** Returns the keyrings of the scopes whose secrets the master keys unwrap. */
async function verifyKeyrings({ db, keyStore, findings }: VerifyContext): Promise<Map<string, Keyring>> {
  const scopes = new Map<string, Keyring>()
  const rows = await db.sql<{ id: string }[]>`
    select id from workspaces
    union all
    select ${instanceScope}::uuid`
  for (const { id } of rows) {
    try {
      scopes.set(id, await keyStore.keyring(id))
    } catch (error) {
      findings.push(
        `keys of ${id === instanceScope ? 'the installation' : `workspace ${id}`}: ${describeProblem(error)}`,
      )
    }
  }
  return scopes
}

async function verifyEncrypted({ db, findings }: VerifyContext, scopes: Map<string, Keyring>): Promise<number> {
  let opened = 0
  for (const [scope, keyring] of [...scopes].slice(0, sampledWorkspaces + 1)) {
    const keysOf = scope === instanceScope ? 'instance' : 'workspace'
    for (const table of keyedTables.encrypted.filter((one) => one.keyScope === keysOf)) {
      for (const row of await sample(db.sql, scope, table)) {
        try {
          opened += decryptRow(keyring, table, row)
        } catch (error) {
          findings.push(`${table.table}: ${describeProblem(error)}`)
        }
      }
    }
  }
  return opened
}

function sample(
  sql: Sql,
  scope: string,
  { table, key, reads = [], locations, keyScope }: EncryptedTable,
): Promise<KeyedRow[]> {
  const columns = [...new Set([...key, ...reads, ...Object.keys(locations)])]
  const ofScope = keyScope === 'workspace' ? sql`where workspace_id = ${scope}` : sql``
  return sql<KeyedRow[]>`
    select ${sql(columns)}
    from ${sql(table)}
    ${ofScope}
    order by ${sql([...key])}
    limit ${sampledRows}`
}

function decryptRow(keyring: Keyring, { locations }: EncryptedTable, row: KeyedRow): number {
  let opened = 0
  for (const [column, place] of Object.entries(locations)) {
    const encrypted: unknown = row[column]
    if (!Buffer.isBuffer(encrypted) || encrypted.length === 0) continue
    keyring.decrypt(place(row), encrypted)
    opened++
  }
  return opened
}

/** Checks all rows in one snapshot. */
async function verifyRows(
  { db, keyStore, findings }: VerifyContext,
  { config, address }: VerifyDeps,
  isOpen: boolean,
): Promise<Pick<Verification, 'events' | 'files'>> {
  const store = isOpen ? await findStore({ db, keyStore, findings }, config) : null
  try {
    return await withSession(address, 'parley prove', (client) =>
      inSnapshot(client, async () => ({
        events: await verifyFeeds(client, findings),
        files: store === null ? null : await verifyFiles(client, db, store, findings),
      })),
    )
  } finally {
    await store?.close()
  }
}

async function findStore({ db, keyStore, findings }: VerifyContext, { media }: Config): Promise<MediaStore | null> {
  try {
    return await openStore({ db, keyStore, clock: systemClock }, media)
  } catch (error) {
    findings.push(`files: ${describeProblem(error)}`)
    return null
  }
}

/** `parley prove`: prints the findings, and exits with 1 if there are any problems. */
export async function verifyInstallation({ json }: { json?: boolean }): Promise<void> {
  const config = loadConfig(process.env)
  const masterKeys = requireMasterKeys(config)
  const { address, directAddress } = config.database
  const external = directAddress ?? address
  const source = external === null ? await openEmbedded(config) : { address: external, close: async () => {} }
  try {
    const proof = await verifyBackup({ config, address: source.address, masterKeys })
    printResult(json, proof, verificationLines(proof))
    if (proof.findings.length > 0) process.exitCode = 1
  } finally {
    await source.close()
  }
}

// These checks read all rows, in a session without statement timeout and in one snapshot, with at most a page in
// memory.

const maxAhead = 50

/**
 * Checks that a feed has no duplicate positions (within a partition the index ensures that) and none after its last.
 * Removed events may remain until their partition is dropped. Returns the number of events.
 */
export async function verifyFeeds(client: pg.Client, findings: string[]): Promise<number> {
  const { rows } = await client.query<Record<'id' | 'last' | 'highest' | 'twice' | 'count', string>>(`
    select
      e.workspace_id as id,
      coalesce(f.last_position, 0) as last,
      coalesce(max(e.position), 0) as highest,
      count(e.position) - count(distinct e.position) as twice,
      count(*) as count
    from events e
    left join event_feeds f on f.workspace_id = e.workspace_id
    group by e.workspace_id, f.last_position`)
  let events = 0
  for (const { id, ...figures } of rows) {
    const [last, highest, twice] = [Number(figures.last), Number(figures.highest), Number(figures.twice)]
    events += Number(figures.count)
    if (highest > last)
      findings.push(`events of workspace ${id}: one has position ${highest}, but the feed ends at ${last}`)
    if (twice > 0) findings.push(`events of workspace ${id}: ${twice} have a duplicate position`)
  }
  const ahead = await client.query<{ id: string }>(`
    select q.endpoint_id as id
    from webhook_queues q
    left join event_feeds f on f.workspace_id = q.workspace_id
    where q.cursor > coalesce(f.last_position, 0)
    limit ${maxAhead}`)
  for (const { id } of ahead.rows) findings.push(`webhook endpoint ${id} has a cursor after the end of its feed`)
  return events
}

const pageSize = 1000
const maxAskedAgain = 1000

/**
 * Checks that every file that rows refer to exists, and returns their number. Walks the sorted names of the snapshot
 * and of the store in parallel. A file is stored before its row, so it can only be missing if both were erased since;
 * such names are checked again with `db`, outside the snapshot.
 */
export async function verifyFiles(client: pg.Client, db: Db, store: MediaStore, findings: string[]): Promise<number> {
  const stored = pathsIn(store)
  let [named, missing] = [0, 0]
  const doubtful: string[] = []
  let at = await stored.next()
  for await (const name of namesIn(client)) {
    named++
    const path = storePath(name)
    while (!at.done && at.value < path) at = await stored.next()
    if (at.value === path) continue
    missing++
    if (doubtful.length < maxAskedAgain) doubtful.push(name)
  }
  missing -= doubtful.length - (await stillNamed(db, doubtful))
  if (missing > 0) findings.push(`files: ${missing} of ${named} referenced files are not in ${store.description}`)
  return named
}

async function* pathsIn(store: MediaStore): AsyncGenerator<string, undefined> {
  for (let after: string | null = null; ; ) {
    const files = await store.list(after, pageSize)
    for (const { name } of files) yield storePath(name)
    if (files.length < pageSize) return
    after = files.at(-1)?.name ?? null
  }
}

/** Yields names sorted by their path in the store. */
async function* namesIn(client: pg.Client): AsyncGenerator<string> {
  await client.query(`
    declare named no scroll cursor for
    select name
    from (
      select stored_as::text as name from media where stored_as is not null
      union all
      select preview_stored_as::text from media where preview_stored_as is not null
    ) as names
    order by substr(name, 35) collate "C", substr(name, 33, 2) collate "C", name collate "C"`)
  for (;;) {
    const { rows } = await client.query<{ name: string }>(`fetch ${pageSize} from named`)
    for (const { name } of rows) yield name
    if (rows.length < pageSize) return
  }
}

async function stillNamed(db: Db, names: string[]): Promise<number> {
  if (names.length === 0) return 0
  const rows = await db.sql`
    select stored_as as name from media where stored_as = any (${names}::uuid[])
    union
    select preview_stored_as from media where preview_stored_as = any (${names}::uuid[])`
  return rows.length
}
