import { keyedTables } from '../../app/keyed-tables.ts'
import { systemClock } from '../../base/clock.ts'
import { type Db, openDb, type Sql } from '../../base/db.ts'
import { checkKnown } from '../../base/migrate.ts'
import type { DatabaseAddress } from '../../base/postgres/address/address.ts'
import type { KeyedRow, SealedTable } from '../../base/sealing/keyed-table.ts'
import type { Keyring } from '../../base/sealing/keyring.ts'
import { instanceScope, type MasterKeys, openVault, type Vault } from '../../base/sealing/vault.ts'
import type { Config } from '../../config.ts'
import { openStore } from '../../media/open-store.ts'
import type { MediaStore } from '../../media/store/store.ts'
import { describeProblem } from '../terminal.ts'

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
  vault: Vault
  findings: string[]
}

const [sampledWorkspaces, sampledRows, maxFindings] = [100, 20, 50]

/** Looks whether database, keys and files belong together. Changes nothing but the note of which store is ours. */
export async function prove({ config, address, masterKeys }: ProofDeps): Promise<Proof> {
  const db = openDb({ address, maxConnections: 2 })
  const vault = openVault(db, masterKeys, systemClock)
  const looking: Looking = { db, vault, findings: [] }
  try {
    const migration = await proveMigrations(looking)
    const scopes = await proveKeyrings(looking)
    const opened = await proveSealed(looking, scopes)
    const events = await proveFeeds(looking)
    const files = scopes.has(instanceScope) ? await proveFiles(looking, config) : null
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
async function proveKeyrings({ db, vault, findings }: Looking): Promise<Map<string, Keyring>> {
  const scopes = new Map<string, Keyring>()
  const rows = await db.sql<{ id: string }[]>`
    select id from workspaces
    union all
    select ${instanceScope}::uuid`
  for (const { id } of rows) {
    try {
      scopes.set(id, await vault.keyring(id))
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

function sample(sql: Sql, scope: string, { table, key, reads = [], places, keysOf }: SealedTable): Promise<KeyedRow[]> {
  const columns = [...new Set([...key, ...reads, ...Object.keys(places)])]
  const ofScope = keysOf === 'workspace' ? sql`where workspace_id = ${scope}` : sql``
  return sql<KeyedRow[]>`
    select ${sql(columns)}
    from ${sql(table)}
    ${ofScope}
    order by ${sql([...key])}
    limit ${sampledRows}`
}

function openRow(keyring: Keyring, { places }: SealedTable, row: KeyedRow): number {
  let opened = 0
  for (const [column, place] of Object.entries(places)) {
    const sealed: unknown = row[column]
    if (!Buffer.isBuffer(sealed) || sealed.length === 0) continue
    keyring.open(place(row), sealed)
    opened++
  }
  return opened
}

/** A feed gives no place twice (the table sees to that), and none beyond what it says was its last. */
async function proveFeeds({ db, findings }: Looking): Promise<number> {
  const rows = await db.sql<
    { id: string; last: number; removed: number; highest: number; lowest: number; count: number }[]
  >`
    select
      e.workspace_id as id,
      coalesce(f.last_position, 0) as last,
      coalesce(f.removed_to, 0) as removed,
      coalesce(max(e.position), 0) as highest,
      coalesce(min(e.position), 0) as lowest,
      count(*) as count
    from events e
    left join event_feeds f on f.workspace_id = e.workspace_id
    group by e.workspace_id, f.last_position, f.removed_to`
  for (const { id, last, removed, highest, lowest } of rows) {
    if (highest > last)
      findings.push(`events of workspace ${id}: one has place ${highest}, and the feed ends at ${last}`)
    if (lowest > 0 && lowest <= removed)
      findings.push(`events of workspace ${id}: one has place ${lowest}, and the feed begins behind ${removed}`)
  }
  const ahead = await db.sql<{ id: string }[]>`
    select q.endpoint_id as id
    from webhook_queues q
    left join event_feeds f on f.workspace_id = q.workspace_id
    where q.cursor > coalesce(f.last_position, 0)
    limit ${maxFindings}`
  for (const { id } of ahead) findings.push(`webhook endpoint ${id} is beyond the end of its feed`)
  return rows.reduce((sum, { count }) => sum + Number(count), 0)
}

async function proveFiles({ db, vault, findings }: Looking, config: Config): Promise<number | null> {
  let store: MediaStore
  try {
    store = await openStore({ db, vault, clock: systemClock }, config.media)
  } catch (error) {
    findings.push(`files: ${describeProblem(error)}`)
    return null
  }
  try {
    return await compareFiles(db.sql, store, findings)
  } finally {
    await store.close()
  }
}

const pageSize = 1000
const noId = '00000000-0000-0000-0000-000000000000'

async function compareFiles(sql: Sql, store: MediaStore, findings: string[]): Promise<number> {
  const stored = new Set<string>()
  for (let after: string | null = null; ; ) {
    const files = await store.list(after, pageSize)
    for (const { name } of files) stored.add(name)
    if (files.length < pageSize) break
    after = files.at(-1)?.name ?? null
  }
  let [named, missing] = [0, 0]
  for (let from = [noId, noId]; ; ) {
    const rows: { workspace: string; id: string; names: string[] }[] = await sql`
      select workspace_id as workspace, id, array_remove(array[stored_as, preview_stored_as], null) as names
      from media
      where (workspace_id, id) > (${from[0] ?? noId}, ${from[1] ?? noId})
      order by workspace_id, id
      limit ${pageSize}`
    const names = rows.flatMap((row) => row.names)
    named += names.length
    missing += names.filter((name) => !stored.has(name)).length
    const last = rows.at(-1)
    if (last === undefined || rows.length < pageSize) break
    from = [last.workspace, last.id]
  }
  if (missing > 0) findings.push(`files: ${missing} of ${named} that rows name are not in ${store.words}`)
  return named
}
