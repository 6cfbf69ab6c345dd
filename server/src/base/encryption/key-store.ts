import type { Clock } from '../clock.ts'
import { type Db, publish, type Sql, type Tx } from '../db.ts'
import { type EncryptionContext, UnknownKeyVersion } from './encrypt.ts'
import { createKeyring, type Keyring, type Secret } from './keyring.ts'
import { createTwoPartCache, type PlaintextCache } from './plaintext-cache.ts'
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

/** The scope of what belongs to the installation and to no workspace, such as its users. */
export const instanceScope = '00000000-0000-0000-0000-000000000000'

/** The only way to keys. A scope is a workspace id or `instanceScope`. */
export interface KeyStore {
  /** Gives a new scope its secrets; does nothing when it has them. Its keyring can be had once `tx` has committed. */
  createSecrets(tx: Tx, scopeId: string): Promise<void>
  /** Gives the instance its secrets and proves that the master key opens them: call it once at start. */
  ensureInstanceSecrets(): Promise<void>
  /** The keys of a scope, at most 10 s old; throws when the scope has none. To be had before a transaction begins. */
  keyring(scopeId: string): Promise<Keyring>
  /** The keys of a scope as the transaction sees them. */
  keyringIn(tx: Tx, scopeId: string): Promise<Keyring>
  /**
   * Runs `work`, which must be repeatable, once more with fresh keys if a value names a version not yet loaded. What names one
   * that these do not have either is a broken value.
   */
  withKeyring<T>(scopeId: string, work: (keyring: Keyring) => T | Promise<T>): Promise<T>
  /** Drops the keys of a scope from memory, and what they opened. */
  forget(scopeId: string): void
  /** Gives a scope a new secret that nobody writes with yet. */
  addSecret(tx: Tx, name: SecretName): Promise<void>
  /** The id of the master key that wraps what is new. */
  masterKeyId(): string
  /** Wraps with this key from now on; those before still open what they wrapped. */
  useMasterKey(masterKey: Buffer): void
  /** Wraps every secret that another key wraps with the current one; returns how many. Goes on where it was killed. */
  rewrapSecrets(): Promise<number>
}

export interface MasterKeys {
  /** Wraps what is new. */
  current: Buffer
  /** Still open what they wrapped. */
  previous?: readonly Buffer[]
}

interface Loaded {
  keyring: Promise<Keyring>
  loadedAt: number
}

const freshMs = 10_000
const maxScopes = 10_000
/** Of 60,000 messages in all, and of half as many of one scope. */
const pageLimits = { maxBytes: 48_000_000, maxScopeBytes: 24_000_000, maxAgeMs: 300_000 }
/** Of the events that many wait for: some 2,500 of one scope. Whoever keeps up asks within seconds. */
const messageLimits = { maxBytes: 16_000_000, maxScopeBytes: 4_000_000, maxAgeMs: 60_000 }

/** What had been sealed is gone for good: the id is the scope. */
const erasedTopic = 'sealed_erased'

/** Has every process drop what it remembers of a scope, once the transaction that erases some of it has committed. */
export function forgetErased(tx: Tx, scopeId: string): void {
  publish(tx, erasedTopic, scopeId)
}

export function openKeyStore(db: Db, masterKeys: MasterKeys, clock: Clock): KeyStore {
  const loaded = new Map<string, Loaded>()
  const opened = createTwoPartCache(pageLimits, messageLimits)
  db.subscribe(erasedTopic, opened.forget)
  const keys = [masterKeys.current, ...(masterKeys.previous ?? [])]
  const current = () => keys[0] ?? masterKeys.current

  const load = (scopeId: string): Promise<Keyring> => {
    const entry = { keyring: loadKeyring(db.sql, keys, scopeId, opened), loadedAt: clock.now().getTime() }
    loaded.delete(scopeId)
    loaded.set(scopeId, entry)
    if (loaded.size > maxScopes) dropOldest(loaded)
    entry.keyring.catch(() => {
      if (loaded.get(scopeId) === entry) loaded.delete(scopeId)
    })
    return entry.keyring
  }

  const keyring = (scopeId: string): Promise<Keyring> => {
    db.refuseInTransaction()
    const entry = loaded.get(scopeId)
    const isFresh = entry !== undefined && clock.now().getTime() - entry.loadedAt < freshMs
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
      loaded.delete(scopeId)
      opened.forget(scopeId)
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
  opened?: PlaintextCache,
): Promise<Keyring> {
  const rows = await listSecrets(sql, scopeId)
  const secretsFor = (purpose: SecretPurpose): Secret[] =>
    rows.filter((row) => row.purpose === purpose && isInUse(row)).map((row) => unwrapped(masterKeys, scopeId, row))
  const [data, index, stable] = [secretsFor('data'), secretsFor('index'), secretsFor('stable')]
  return createKeyring(scopeId, { data, index, stable }, opened)
}

/** A retired data secret still opens: nothing is lost should a value be put back from elsewhere. */
function isInUse({ purpose, retired_at }: SecretRow): boolean {
  return purpose === 'data' || retired_at === null
}

function unwrapped(masterKeys: readonly Buffer[], scopeId: string, row: SecretRow): Secret {
  return { version: row.version, bytes: unwrapSecret(masterKeys, scopeId, row), current: row.current }
}

function dropOldest(loaded: Map<string, Loaded>): void {
  const oldest = loaded.keys().next()
  if (!oldest.done) loaded.delete(oldest.value)
}

// What each room says of its tables, so that keys can be rotated by one engine (decision 013).

/** A row as the database gives it. */
// biome-ignore lint/suspicious/noExplicitAny: each table has columns of its own, which only its room knows
export type KeyedRow = Record<string, any>

interface KeyedTable {
  table: string
  /** Whose keys are used: those of the workspace in `workspace_id`, or the instance's. */
  keysOf: 'workspace' | 'instance'
  /** What tells the rows of one scope apart. */
  key: readonly string[]
}

/** A table with sealed columns. */
export interface EncryptedTable extends KeyedTable {
  /** The sealed columns, and where each one's values are bound to. */
  places: Readonly<Record<string, (row: KeyedRow) => EncryptionContext>>
  /** How many rows to hold in memory and under lock; 200 unless the values are large. */
  rowsAtOnce?: number
  /** What `places` needs of a row besides its key. */
  reads?: readonly string[]
}

/** A table with digests or tokens by which rows are found, and their `index_version`. */
export interface IndexedTable extends KeyedTable {
  /** The columns that the digests are made of. */
  reads: readonly string[]
  /** The table that has these columns, if it is another one, and its key in the order of ours. */
  source?: { table: string; key: readonly string[] }
  /** Columns of the table itself that are read as well, where another one has those of `reads`. */
  own?: readonly string[]
  /** The columns to write, `index_version` among them, under the current version. */
  indexes(keyring: Keyring, row: KeyedRow): Record<string, Buffer | number[] | number | null>
}

export interface KeyedTables {
  sealed: readonly EncryptedTable[]
  indexed: readonly IndexedTable[]
}
