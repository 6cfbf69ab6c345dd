import type { Clock } from '../../base/clock.ts'
import { readLeadSettings } from '../../base/lead-settings.ts'
import { type AddressSet, addressSet, normalRange } from '../../base/outgoing/address.ts'
import { type Caller, isScope } from './caller.ts'
import type { CachedKeyRow } from './queries.ts'

// Revocation promises 5 s on every node even when a notice is lost, so what is older than this is read again.
const ttlMs = 4000
const maxKnown = 10_000
// Unknown keys are the caller's invention: few are kept, so that inventing many gains nothing.
const maxUnknown = 1000

export interface KeyCache {
  /** The key with this SHA-256, or null. A key that is fresh here costs no query and no wait. */
  find(keyHash: string): CachedKey | null | Promise<CachedKey | null>
  forgetKey(keyId: string): void
  forgetWorkspace(workspaceId: string): void
  /** Nobody knows what has changed. */
  forgetAll(): void
}

interface Entry {
  key: CachedKey | null
  readAtMs: number
}

/** Keeps keys in this process for 4 s. `read` is asked once, however many requests wait for the same key. */
export function createKeyCache(clock: Clock, read: (keyHash: string) => Promise<CachedKey | null>): KeyCache {
  const known = new Map<string, Entry>()
  const unknown = new Map<string, Entry>()
  const reading = new Map<string, Promise<CachedKey | null>>()
  let generation = 0

  async function readAndKeep(keyHash: string): Promise<CachedKey | null> {
    const begun = generation
    const readAtMs = clock.now().getTime()
    const key = await read(keyHash)
    // A read that began before something was forgotten may have seen the time before: it is used once, not kept.
    if (begun === generation) {
      if (key === null) keep(unknown, maxUnknown, keyHash, { key, readAtMs })
      else keep(known, maxKnown, keyHash, { key, readAtMs })
    }
    return key
  }

  function find(keyHash: string): CachedKey | null | Promise<CachedKey | null> {
    const entry = known.get(keyHash) ?? unknown.get(keyHash)
    const ageMs = entry === undefined ? ttlMs : clock.now().getTime() - entry.readAtMs
    if (entry !== undefined && ageMs >= 0 && ageMs < ttlMs) return entry.key
    const begun = reading.get(keyHash)
    if (begun !== undefined) return begun
    known.delete(keyHash)
    unknown.delete(keyHash)
    const promise = readAndKeep(keyHash).finally(() => {
      if (reading.get(keyHash) === promise) reading.delete(keyHash)
    })
    reading.set(keyHash, promise)
    return promise
  }

  function forget(matches: (key: CachedKey) => boolean): void {
    generation++
    // Who asks from now on must not join a read that began before.
    reading.clear()
    unknown.clear()
    for (const [keyHash, { key }] of known) {
      if (key !== null && matches(key)) known.delete(keyHash)
    }
  }

  return {
    find,
    forgetKey: (keyId) => forget((key) => key.caller.keyId === keyId),
    forgetWorkspace: (workspaceId) => forget((key) => key.caller.workspaceId === workspaceId),
    forgetAll: () => forget(() => true),
  }
}

function keep(entries: Map<string, Entry>, max: number, keyHash: string, entry: Entry): void {
  const [oldest] = entries.keys()
  if (entries.size >= max && oldest !== undefined) entries.delete(oldest)
  entries.set(keyHash, entry)
}

/** What a node keeps of a key. Times, never answers: whether it has expired is asked at each request. */
export interface CachedKey {
  caller: Caller
  revoked: boolean
  /** When the shown value was, or will be, replaced for good. */
  validUntil: Date | null
  expiresAt: Date | null
  allowlist: Allowlist | null
}

export function cacheableKey(row: CachedKeyRow): CachedKey {
  // A scope that this release does not know grants nothing.
  const scopes = new Set(row.scopes.filter(isScope))
  return {
    caller: {
      workspaceId: row.workspace_id,
      keyId: row.id,
      keyName: row.name,
      scopes,
      connectionIds: row.connection_ids,
      phoneVisibility: row.phone_visibility,
      sendLimits: { unanswered: row.unanswered_sends, daily: row.daily_sends },
      workspace: {
        ...readLeadSettings(row),
        leadsEnabled: row.leads_enabled,
        inboxEnabled: row.inbox_enabled,
        inboxAvailable: row.inbox_available,
        hours: row.hours,
      },
      may: (scope) => scopes.has(scope),
    },
    revoked: row.revoked_at !== null,
    validUntil: row.valid_until,
    expiresAt: row.expires_at,
    allowlist: compileAllowlist(row.allowlist),
  }
}

/** Whether a key may be used from an address; null is an address that cannot be told. */
type Allowlist = (address: string | null) => boolean

/** Compiles the entries of one key. No entries: any address, told or not. */
export function compileAllowlist(entries: readonly string[]): Allowlist | null {
  if (entries.length === 0) return null
  const ranges = entries.map((entry) => normalRange(entry)).filter((range) => range !== null)
  const contains: AddressSet = addressSet(ranges)
  return (address) => address !== null && contains(address)
}
