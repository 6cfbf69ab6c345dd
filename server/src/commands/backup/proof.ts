import { keyedTables } from '../../app/tables.ts'
import { systemClock } from '../../base/clock.ts'
import { inSnapshot, withSession } from '../../base/copy/session.ts'
import { type Db, openDb, type Sql } from '../../base/db.ts'
import { checkKnown } from '../../base/migrate.ts'
import type { DatabaseAddress } from '../../base/postgres/address/address.ts'
import type { KeyedRow, SealedTable } from '../../base/sealing/keyed-table.ts'
import type { Keyring } from '../../base/sealing/keyring.ts'
import { instanceScope, type MasterKeys, openVault, type Vault } from '../../base/sealing/vault.ts'
import { type Config, loadConfig } from '../../config.ts'
import { openStore } from '../../media/open-store.ts'
import type { MediaStore } from '../../media/store/store.ts'
import { answer, describeProblem } from '../terminal.ts'
import { requireMasterKeys } from './master-keys.ts'
import { proveFeeds, proveFiles } from './prove-rows.ts'
import { openEmbedded } from './source.ts'

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

/** What is in all rows, as one snapshot sees it. */
async function proveRows(
  { db, vault, findings }: Looking,
  { config, address }: ProofDeps,
  isOpen: boolean,
): Promise<Pick<Proof, 'events' | 'files'>> {
  const store = isOpen ? await findStore({ db, vault, findings }, config) : null
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

async function findStore({ db, vault, findings }: Looking, { media }: Config): Promise<MediaStore | null> {
  try {
    return await openStore({ db, vault, clock: systemClock }, media)
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
