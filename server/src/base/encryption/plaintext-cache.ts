/** Sealed columns of a table that are read together, and what is made of them. They are known by identity. */
export interface EncryptedColumns<T> {
  readonly table: string
  readonly columns: readonly string[]
  /** Where they are kept: with what pages show, unless they would push that out. */
  readonly cachedAs?: 'news'
  /** Of what each holds; null where there is nothing. */
  readonly read: (...plain: (string | null)[]) => T
}

/** What was opened lately, of all scopes, within a bound of memory. */
export interface PlaintextCache {
  /**
   * What the very same bytes of this row held before, which `open` reads where they are new. Nobody is to change it.
   */
  get<T>(scopeId: string, columns: EncryptedColumns<T>, row: string, sealed: string, open: () => T): T
  /** Drops what a scope has. */
  forget(scopeId: string): void
  /** What it takes, by its own estimate. */
  bytes(): number
}

/** What pages show, and apart from it what is new: neither pushes out the other. */
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
  /** Of all scopes together. */
  maxBytes: number
  /** Of one of them. */
  maxScopeBytes: number
  /** What nobody has asked for is dropped after this time, at most twice as late. */
  maxAgeMs: number
}

interface Entry {
  sealed: string
  value: unknown
}

type Columns = Map<object, Map<string, Entry>>

/**
 * What is asked for is in the younger generation, or comes into it. When that is full, or its time is over, it becomes the
 * older one, whose place it takes. So a value in use costs one look, and what is not in use goes by itself.
 */
interface Scope {
  young: Columns
  old: Columns
  youngBytes: number
  oldBytes: number
}

/** An entry takes about so much beside its texts. */
const entryBytes = 200
/** What is longer is opened each time. */
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
      const scope = scopes.get(scopeId) ?? { young: new Map(), old: new Map(), youngBytes: 0, oldBytes: 0 }
      const entry = scope.young.get(columns)?.get(row)
      // A value that was sealed again has other bytes, whatever it holds: an older one can never be taken for it.
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

// Four letters for three sealed bytes, and what these held.
const sizeOf = ({ sealed }: Entry): number => entryBytes + sealed.length * 1.75

function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  Object.freeze(value)
  // Without a list of the values: this is done for each row that a page shows for the first time.
  for (const name in value) frozen(value[name])
  return value
}
