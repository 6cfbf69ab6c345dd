import type { Clock } from '../clock.ts'
import { type Db, publish, type Sql, type Tx } from '../db.ts'
import { type EncryptionContext, UnknownKeyVersion } from './encrypt.ts'
import { createKeyring, type Keyring, type Secret } from './keyring.ts'
import { createPartedCache, type PlaintextCache } from './plaintext-cache.ts'
import {
  insertSecret,
  listSecrets,
  masterKeyId,
  rewrapBatch,
  type SecretName,
  type SecretPurpose,
  type SecretRow,
  unwrapSecret,
} from './secrets.ts'

/** Scope of data that belongs to the installation instead of a workspace, such as its users. */
export const instanceScope = '00000000-0000-0000-0000-000000000000'

/** The only access to keys. A scope is a workspace id or `instanceScope`. */
export interface KeyStore {
  /** Creates the secrets of a new scope, if missing. Its keyring is available after `tx` has committed. */
  createSecrets(tx: Tx, scopeId: string): Promise<void>
  /** Creates the secrets of the instance, and checks that the master key decrypts them. Called once at start. */
  ensureInstanceSecrets(): Promise<void>
  /** Returns the keys of a scope, at most 10 s old. Throws if the scope has none, and inside a transaction. */
  keyring(scopeId: string): Promise<Keyring>
  /** Returns the keys of a scope as the transaction sees them. */
  keyringIn(tx: Tx, scopeId: string): Promise<Keyring>
  /**
   * Runs `work`, which must be repeatable, again with reloaded keys if a value has a key version that is not loaded. A
   * version that is still unknown then counts as a broken value.
   */
  withKeyring<T>(scopeId: string, work: (keyring: Keyring) => T | Promise<T>): Promise<T>
  /** Removes the keys of a scope and its decrypted values from memory. */
  forget(scopeId: string): void
  /** Adds a secret to a scope that is not yet used for encryption. */
  addSecret(tx: Tx, name: SecretName): Promise<void>
  /** Returns the id of the current master key. */
  masterKeyId(): string
  /** Wraps new secrets with this key from now on. Earlier keys still unwrap theirs. */
  useMasterKey(masterKey: Buffer): void
  /** Rewraps every secret with the current master key; returns how many changed. Continues after interruption. */
  rewrapSecrets(): Promise<number>
}

export interface MasterKeys {
  /** Wraps new secrets. */
  current: Buffer
  /** Unwrap existing secrets. */
  previous?: readonly Buffer[]
}

interface CachedKeyring {
  keyring: Promise<Keyring>
  loadedAt: number
}

const keyringMaxAgeMs = 10_000
const maxScopes = 10_000
const cacheLimits = {
  /** About 60,000 messages in total, and half as many per scope. */
  pages: { maxBytes: 48_000_000, maxScopeBytes: 24_000_000, maxAgeMs: 300_000 },
  /** Events that several readers poll: about 2,500 per scope. Readers that keep up poll within seconds. */
  news: { maxBytes: 16_000_000, maxScopeBytes: 4_000_000, maxAgeMs: 60_000 },
  /** Leads on pages of lists: about 30,000 in total, and a quarter of them per scope. */
  leads: { maxBytes: 16_000_000, maxScopeBytes: 4_000_000, maxAgeMs: 300_000 },
}

/** Published when encrypted data was erased; the id is the scope. */
const erasedTopic = 'sealed_erased'

/** Makes every process drop its decrypted values of a scope when the transaction that erases some of them commits. */
export function publishErasure(tx: Tx, scopeId: string): void {
  publish(tx, erasedTopic, scopeId)
}

export function openKeyStore(db: Db, masterKeys: MasterKeys, clock: Clock): KeyStore {
  const keyrings = new Map<string, CachedKeyring>()
  const plaintextCache = createPartedCache(cacheLimits)
  db.subscribe(erasedTopic, plaintextCache.forget)
  const keys = [masterKeys.current, ...(masterKeys.previous ?? [])]
  const current = () => keys[0] ?? masterKeys.current

  const load = (scopeId: string): Promise<Keyring> => {
    const entry = { keyring: loadKeyring(db.sql, keys, scopeId, plaintextCache), loadedAt: clock.now().getTime() }
    keyrings.delete(scopeId)
    keyrings.set(scopeId, entry)
    if (keyrings.size > maxScopes) dropOldest(keyrings)
    entry.keyring.catch(() => {
      if (keyrings.get(scopeId) === entry) keyrings.delete(scopeId)
    })
    return entry.keyring
  }

  const keyring = (scopeId: string): Promise<Keyring> => {
    db.refuseInTransaction()
    const entry = keyrings.get(scopeId)
    const isFresh = entry !== undefined && clock.now().getTime() - entry.loadedAt < keyringMaxAgeMs
    return isFresh ? entry.keyring : load(scopeId)
  }

  const createSecrets = async (tx: Tx, scopeId: string): Promise<void> => {
    for (const purpose of ['data', 'index', 'stable'] as const) {
      await insertSecret(tx, { scopeId, purpose, version: 1, current: true }, current(), clock.now())
    }
  }

  return {
    createSecrets,
    ensureInstanceSecrets: async () => {
      await db.tx((tx) => createSecrets(tx, instanceScope))
      await load(instanceScope)
    },
    keyring,
    keyringIn: (tx, scopeId) => loadKeyring(tx, keys, scopeId),
    withKeyring: async (scopeId, work) => {
      try {
        return await work(await keyring(scopeId))
      } catch (error) {
        if (!(error instanceof UnknownKeyVersion)) throw error
        return work((await load(scopeId)).asNewest())
      }
    },
    forget: (scopeId) => {
      keyrings.delete(scopeId)
      plaintextCache.forget(scopeId)
    },
    addSecret: (tx, name) => insertSecret(tx, { ...name, current: false }, current(), clock.now()),
    masterKeyId: () => masterKeyId(current()),
    useMasterKey: (masterKey) => {
      keys.unshift(masterKey)
    },
    rewrapSecrets: async () => {
      let count = 0
      for (;;) {
        const batch = await db.tx((tx) => rewrapBatch(tx, keys, current()))
        if (batch === 0) return count
        count += batch
      }
    },
  }
}

async function loadKeyring(
  sql: Sql,
  masterKeys: readonly Buffer[],
  scopeId: string,
  plaintextCache?: PlaintextCache,
): Promise<Keyring> {
  const rows = await listSecrets(sql, scopeId)
  const secretsFor = (purpose: SecretPurpose): Secret[] =>
    rows.filter((row) => row.purpose === purpose && isInUse(row)).map((row) => unwrapRow(masterKeys, scopeId, row))
  const [data, index, stable] = [secretsFor('data'), secretsFor('index'), secretsFor('stable')]
  return createKeyring(scopeId, { data, index, stable }, plaintextCache)
}

/** Retired data secrets still decrypt, in case an old value is restored. */
function isInUse({ purpose, retired_at }: SecretRow): boolean {
  return purpose === 'data' || retired_at === null
}

function unwrapRow(masterKeys: readonly Buffer[], scopeId: string, row: SecretRow): Secret {
  return { version: row.version, bytes: unwrapSecret(masterKeys, scopeId, row), current: row.current }
}

function dropOldest(keyrings: Map<string, CachedKeyring>): void {
  const oldest = keyrings.keys().next()
  if (!oldest.done) keyrings.delete(oldest.value)
}

// Declared by each module for its tables, so that one engine can rotate all keys (decision 013).

/** A database row. */
// biome-ignore lint/suspicious/noExplicitAny: each table has its own columns, which only its module knows
export type KeyedRow = Record<string, any>

interface KeyedTable {
  table: string
  /** Whether it uses the keys of the workspace in `workspace_id` or the instance's. */
  keyScope: 'workspace' | 'instance'
  /** Columns that identify a row within its scope. */
  key: readonly string[]
}

/** A table with encrypted columns. */
export interface EncryptedTable extends KeyedTable {
  /** The encrypted columns, each with the location that its values are bound to. */
  locations: Readonly<Record<string, (row: KeyedRow) => EncryptionContext>>
  /** Rows in memory and locked at a time; default 200, fewer if values are large. */
  rowsAtOnce?: number
  /** Columns that the locations need besides the key. */
  reads?: readonly string[]
}

/** A table with blind indexes (digests or tokens) and their `index_version`. */
export interface IndexedTable extends KeyedTable {
  /** Columns that the digests are computed from. */
  reads: readonly string[]
  /** The table with these columns, if it is another one, and its key in the same order. */
  source?: { table: string; key: readonly string[] }
  /** Further columns to read from the table itself, if another table has the source columns. */
  own?: readonly string[]
  /** Returns the columns to write, including `index_version`, under the current version. */
  computeIndexes(keyring: Keyring, row: KeyedRow): Record<string, Buffer | number[] | number | null>
}

export interface KeyedTables {
  encrypted: readonly EncryptedTable[]
  indexed: readonly IndexedTable[]
}
