/** Encrypted columns of a table that are read together, and how they are parsed. The object itself is a cache key. */
export interface EncryptedColumns<T> {
  readonly table: string
  readonly columns: readonly string[]
  /** Cache part; by default that of conversation pages, which new events and leads would evict. */
  readonly cachedAs?: 'news' | 'leads'
  /** Parses the plaintexts; null for an empty column. */
  readonly read: (...plain: (string | null)[]) => T
}

/** Cache of recently decrypted values of all scopes, limited in memory. */
export interface PlaintextCache {
  /** Returns the cached value if the row's ciphertext is unchanged, else calls `open`. The value is read-only. */
  get<T>(scopeId: string, columns: EncryptedColumns<T>, row: string, ciphertext: string, open: () => T): T
  /** Removes all values of a scope. */
  forget(scopeId: string): void
  /** Returns the estimated size. */
  bytes(): number
}

type Part = 'pages' | NonNullable<EncryptedColumns<unknown>['cachedAs']>

/** Combines caches for conversation pages, new events and leads, so that none evicts the others. */
export function createPartedCache(limits: Record<Part, PlaintextCacheLimits>): PlaintextCache {
  const parts: Record<Part, PlaintextCache> = {
    pages: createPlaintextCache(limits.pages),
    news: createPlaintextCache(limits.news),
    leads: createPlaintextCache(limits.leads),
  }
  const all = Object.values(parts)
  return {
    get: (scopeId, columns, ...rest) => parts[columns.cachedAs ?? 'pages'].get(scopeId, columns, ...rest),
    forget: (scopeId) => {
      for (const part of all) part.forget(scopeId)
    },
    bytes: () => all.reduce((sum, part) => sum + part.bytes(), 0),
  }
}

export interface PlaintextCacheLimits {
  /** Limit for all scopes together. */
  maxBytes: number
  /** Limit per scope. */
  maxScopeBytes: number
  /** Unused values are dropped after this time, at the latest after twice as long. */
  maxAgeMs: number
}

interface Entry {
  ciphertext: string
  value: unknown
}

type Columns = Map<object, Map<string, Entry>>

/**
 * Two generations: a value that is read is in the young one or moves there. When the young one is full or too old, it
 * replaces the old one. So a hit costs one lookup, and unused values disappear.
 */
interface Scope {
  young: Columns
  old: Columns
  youngBytes: number
  oldBytes: number
}

/** Approximate size of an entry besides its texts. */
const entryBytes = 200
/** Longer values are not cached. */
const maxCiphertextLength = 64 * 1024

export function createPlaintextCache({ maxBytes, maxScopeBytes, maxAgeMs }: PlaintextCacheLimits): PlaintextCache {
  const scopes = new Map<string, Scope>()
  let bytes = 0
  let isScheduled = false

  const drop = (scopeId: string, scope: Scope) => {
    bytes -= scope.youngBytes + scope.oldBytes
    scopes.delete(scopeId)
  }
  const rotate = (scope: Scope) => {
    bytes -= scope.oldBytes
    Object.assign(scope, { old: scope.young, oldBytes: scope.youngBytes, young: new Map(), youngBytes: 0 })
  }
  const rotateAll = () => {
    for (const [scopeId, scope] of scopes) {
      if (scope.youngBytes === 0) drop(scopeId, scope)
      else rotate(scope)
    }
  }
  const scheduleRotation = () => {
    if (isScheduled || scopes.size === 0) return
    isScheduled = true
    setTimeout(() => {
      rotateAll()
      isScheduled = false
      scheduleRotation()
    }, maxAgeMs).unref()
  }
  const put = (scope: Scope, columns: object, row: string, entry: Entry) => {
    const entries = scope.young.get(columns) ?? new Map<string, Entry>()
    const before = entries.get(row)
    const grown = sizeOf(entry) - (before === undefined ? 0 : sizeOf(before))
    scope.young.set(columns, entries.set(row, entry))
    scope.youngBytes += grown
    bytes += grown
    if (scope.youngBytes > maxScopeBytes / 2) rotate(scope)
    while (bytes > maxBytes) rotateAll()
    scheduleRotation()
  }

  return {
    get: <T>(scopeId: string, columns: EncryptedColumns<T>, row: string, ciphertext: string, open: () => T): T => {
      const scope: Scope = scopes.get(scopeId) ?? { young: new Map(), old: new Map(), youngBytes: 0, oldBytes: 0 }
      const entry = scope.young.get(columns)?.get(row)
      // A re-encrypted value has different bytes, so an outdated entry never matches.
      if (entry?.ciphertext === ciphertext) return entry.value as T
      const older = scope.old.get(columns)?.get(row)
      const value = older?.ciphertext === ciphertext ? (older.value as T) : deepFreeze(open())
      if (ciphertext.length > maxCiphertextLength) return value
      scopes.set(scopeId, scope)
      put(scope, columns, row, { ciphertext, value })
      return value
    },
    forget: (scopeId) => {
      const scope = scopes.get(scopeId)
      if (scope !== undefined) drop(scopeId, scope)
    },
    bytes: () => bytes,
  }
}

// Base64 has four characters per three encrypted bytes; the rest is the plaintext.
const sizeOf = ({ ciphertext }: Entry): number => entryBytes + ciphertext.length * 1.75

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  Object.freeze(value)
  // Without a list of values, because this runs for each row that a page shows for the first time.
  for (const name in value) deepFreeze(value[name])
  return value
}
