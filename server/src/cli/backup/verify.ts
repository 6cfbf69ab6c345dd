import type pg from 'pg'
import { keyedTables } from '../../app/tables.ts'
import { systemClock } from '../../base/clock.ts'
import { inSnapshot, withSession } from '../../base/copy/catalogue.ts'
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
import { checkKnown } from '../../base/migrate.ts'
import type { DatabaseAddress } from '../../base/postgres/address.ts'
import { type Config, loadConfig } from '../../config.ts'
import { openStore } from '../../media/open-store.ts'
import { type MediaStore, storePath } from '../../media/store/store.ts'
import { answer, describeProblem } from '../terminal.ts'
import { openEmbedded, requireMasterKeys } from './source.ts'

export interface Proof {
  migration: string
  workspaces: number
  /** Values that were opened by their keys, of every table that has some, up to 20 rows of each for 100 workspaces. */
  opened: number
  /** Files that rows name; null where the store could not be looked at. */
  files: number | null
  events: number
  /** What is wrong, in words. */
  findings: string[]
}

export interface ProofDeps {
  config: Config
  address: DatabaseAddress
  masterKeys: MasterKeys
}

interface Looking {
  db: Db
  keyStore: KeyStore
  findings: string[]
}

const [sampledWorkspaces, sampledRows, maxFindings] = [100, 20, 50]

/** Looks whether database, keys and files belong together. Changes nothing but the note of which store is ours. */
export async function prove({ config, address, masterKeys }: ProofDeps): Promise<Proof> {
  const db = openDb({ address, maxConnections: 2 })
  const keyStore = openKeyStore(db, masterKeys, systemClock)
  const looking: Looking = { db, keyStore, findings: [] }
  try {
    const migration = await proveMigrations(looking)
    const scopes = await proveKeyrings(looking)
    const opened = await proveSealed(looking, scopes)
    const { events, files } = await proveRows(looking, { config, address, masterKeys }, scopes.has(instanceScope))
    const workspaces = [...scopes.keys()].filter((scope) => scope !== instanceScope).length
    return { migration, workspaces, opened, files, events, findings: looking.findings.slice(0, maxFindings) }
  } finally {
    await db.close()
  }
}

export function proofLines({ migration, workspaces, opened, files, events, findings }: Proof): string[] {
  const found = [
    `The database is at migration ${migration}. Of ${workspaces} workspaces ${opened} sealed values were opened;`,
    `${events} events are in their order; ${files ?? 'no'} files that rows name were looked for.`,
  ]
  if (findings.length === 0) return [...found, 'Nothing is missing.']
  return [...found, ...findings.map((finding) => `PROBLEM: ${finding}`)]
}

async function proveMigrations({ db, findings }: Looking): Promise<string> {
  try {
    const applied = await db.sql<{ number: number; name: string; checksum: string }[]>`
      select number, name, checksum
      from migrations
      order by number`
    await checkKnown(applied)
    return applied.at(-1)?.name ?? 'none'
  } catch (error) {
    findings.push(describeProblem(error))
    return 'none'
  }
}

/** The scopes whose secrets the master keys open, each with its keys. */
async function proveKeyrings({ db, keyStore, findings }: Looking): Promise<Map<string, Keyring>> {
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

async function proveSealed({ db, findings }: Looking, scopes: Map<string, Keyring>): Promise<number> {
  let opened = 0
  for (const [scope, keyring] of [...scopes].slice(0, sampledWorkspaces + 1)) {
    const keysOf = scope === instanceScope ? 'instance' : 'workspace'
    for (const table of keyedTables.sealed.filter((one) => one.keysOf === keysOf)) {
      for (const row of await sample(db.sql, scope, table)) {
        try {
          opened += openRow(keyring, table, row)
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
  { table, key, reads = [], places, keysOf }: EncryptedTable,
): Promise<KeyedRow[]> {
  const columns = [...new Set([...key, ...reads, ...Object.keys(places)])]
  const ofScope = keysOf === 'workspace' ? sql`where workspace_id = ${scope}` : sql``
  return sql<KeyedRow[]>`
    select ${sql(columns)}
    from ${sql(table)}
    ${ofScope}
    order by ${sql([...key])}
    limit ${sampledRows}`
}

function openRow(keyring: Keyring, { places }: EncryptedTable, row: KeyedRow): number {
  let opened = 0
  for (const [column, place] of Object.entries(places)) {
    const sealed: unknown = row[column]
    if (!Buffer.isBuffer(sealed) || sealed.length === 0) continue
    keyring.decrypt(place(row), sealed)
    opened++
  }
  return opened
}

/** What is in all rows, as one snapshot sees it. */
async function proveRows(
  { db, keyStore, findings }: Looking,
  { config, address }: ProofDeps,
  isOpen: boolean,
): Promise<Pick<Proof, 'events' | 'files'>> {
  const store = isOpen ? await findStore({ db, keyStore, findings }, config) : null
  try {
    return await withSession(address, 'parley prove', (client) =>
      inSnapshot(client, async () => ({
        events: await proveFeeds(client, findings),
        files: store === null ? null : await proveFiles(client, db, store, findings),
      })),
    )
  } finally {
    await store?.close()
  }
}

async function findStore({ db, keyStore, findings }: Looking, { media }: Config): Promise<MediaStore | null> {
  try {
    return await openStore({ db, keyStore, clock: systemClock }, media)
  } catch (error) {
    findings.push(`files: ${describeProblem(error)}`)
    return null
  }
}

/** `parley prove`: says what it found, and ends with 1 when anything is wrong. */
export async function proveInstallation({ json }: { json?: boolean }): Promise<void> {
  const config = loadConfig(process.env)
  const masterKeys = requireMasterKeys(config)
  const { address, directAddress } = config.database
  const external = directAddress ?? address
  const source = external === null ? await openEmbedded(config) : { address: external, close: async () => {} }
  try {
    const proof = await prove({ config, address: source.address, masterKeys })
    answer(json, proof, proofLines(proof))
    if (proof.findings.length > 0) process.exitCode = 1
  } finally {
    await source.close()
  }
}

// What is looked for in all rows, however many: by a session that lets statements take their time, in one snapshot, and
// without holding more in memory than a page.

const maxAhead = 50

/**
 * A feed gives no place twice (of one part of the table, its index sees to that), and none beyond what it says was its last.
 * What was removed from it may be there until its period is dropped. Returns how many events there are.
 */
export async function proveFeeds(client: pg.Client, findings: string[]): Promise<number> {
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
      findings.push(`events of workspace ${id}: one has place ${highest}, and the feed ends at ${last}`)
    if (twice > 0) findings.push(`events of workspace ${id}: ${twice} have a place that another has too`)
  }
  const ahead = await client.query<{ id: string }>(`
    select q.endpoint_id as id
    from webhook_queues q
    left join event_feeds f on f.workspace_id = q.workspace_id
    where q.cursor > coalesce(f.last_position, 0)
    limit ${maxAhead}`)
  for (const { id } of ahead.rows) findings.push(`webhook endpoint ${id} is beyond the end of its feed`)
  return events
}

const pageSize = 1000
const maxAskedAgain = 1000

/**
 * Looks for every file that rows name, and returns how many they name. The names of the snapshot and those of the store come
 * in one order and are walked side by side. A file is there before its row, so it may be missing only if it was erased since,
 * with its row: those are asked for again by `db`, outside the snapshot.
 */
export async function proveFiles(client: pg.Client, db: Db, store: MediaStore, findings: string[]): Promise<number> {
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
  if (missing > 0) findings.push(`files: ${missing} of ${named} that rows name are not in ${store.description}`)
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

/** In the order of their paths in the store. */
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
