/** Encrypted columns of a table that are read together, and how they are parsed. The object itself is a cache key. */
export interface EncryptedColumns<T> {
  readonly table: string
  readonly columns: readonly string[]
  /** Cache part; by default that of pages, which new events would evict. */
  readonly cachedAs?: 'news'
  /** Parses the plaintexts; null for an empty column. */
  readonly read: (...plain: (string | null)[]) => T
}

/** Cache of recently decrypted values of all scopes, limited in memory. */
export interface PlaintextCache {
  /** Returns the cached value if the row's ciphertext is unchanged, else calls `open`. The value is read-only. */
  get<T>(scopeId: string, columns: EncryptedColumns<T>, row: string, sealed: string, open: () => T): T
  /** Removes all values of a scope. */
  forget(scopeId: string): void
  /** Returns the estimated size. */
  bytes(): number
}

/** Combines a cache for pages with one for new events, so that neither evicts the other. */
export function createTwoPartCache(pages: PlaintextCacheLimits, news: PlaintextCacheLimits): PlaintextCache {
  const [ofPages, ofNews] = [createPlaintextCache(pages), createPlaintextCache(news)]
  return {
    get: (scopeId, columns, ...rest) => (columns.cachedAs === 'news' ? ofNews : ofPages).get(scopeId, columns, ...rest),
    forget: (scopeId) => {
      ofPages.forget(scopeId)
      ofNews.forget(scopeId)
    },
    bytes: () => ofPages.bytes() + ofNews.bytes(),
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
  sealed: string
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
const maxSealedLength = 64 * 1024

export function createPlaintextCache({ maxBytes, maxScopeBytes, maxAgeMs }: PlaintextCacheLimits): PlaintextCache {
  const scopes = new Map<string, Scope>()
  let bytes = 0
  let isTimed = false

  const drop = (scopeId: string, scope: Scope) => {
    bytes -= scope.youngBytes + scope.oldBytes
    scopes.delete(scopeId)
  }
  const turn = (scope: Scope) => {
    bytes -= scope.oldBytes
    Object.assign(scope, { old: scope.young, oldBytes: scope.youngBytes, young: new Map(), youngBytes: 0 })
  }
  const turnAll = () => {
    for (const [scopeId, scope] of scopes) {
      if (scope.youngBytes === 0) drop(scopeId, scope)
      else turn(scope)
    }
  }
  const watchTime = () => {
    if (isTimed || scopes.size === 0) return
    isTimed = true
    setTimeout(() => {
      turnAll()
      isTimed = false
      watchTime()
    }, maxAgeMs).unref()
  }
  const put = (scope: Scope, columns: object, row: string, entry: Entry) => {
    const entries = scope.young.get(columns) ?? new Map<string, Entry>()
    const before = entries.get(row)
    const grown = sizeOf(entry) - (before === undefined ? 0 : sizeOf(before))
    scope.young.set(columns, entries.set(row, entry))
    scope.youngBytes += grown
    bytes += grown
    if (scope.youngBytes > maxScopeBytes / 2) turn(scope)
    while (bytes > maxBytes) turnAll()
    watchTime()
  }

  return {
    get: <T>(scopeId: string, columns: EncryptedColumns<T>, row: string, sealed: string, open: () => T): T => {
      const scope: Scope = scopes.get(scopeId) ?? { young: new Map(), old: new Map(), youngBytes: 0, oldBytes: 0 }
      const entry = scope.young.get(columns)?.get(row)
      // A re-encrypted value has different bytes, so an outdated entry never matches.
      if (entry?.sealed === sealed) return entry.value as T
      const older = scope.old.get(columns)?.get(row)
      const value = older?.sealed === sealed ? (older.value as T) : frozen(open())
      if (sealed.length > maxSealedLength) return value
      scopes.set(scopeId, scope)
      put(scope, columns, row, { sealed, value })
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
const sizeOf = ({ sealed }: Entry): number => entryBytes + sealed.length * 1.75

function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  Object.freeze(value)
  // Without a list of values, because this runs for each row that a page shows for the first time.
  for (const name in value) frozen(value[name])
  return value
}
