import type { Clock } from '../../base/clock.ts'
import { pickLeadSettings } from '../../base/lead-settings.ts'
import { type AddressSet, addressSet, normalRange } from '../../base/outgoing/address.ts'
import { type Caller, isScope } from './caller.ts'
import type { CachedKeyRow } from './queries.ts'

// Revocation promises 5 s on every node, even if a notification is lost, so older entries are read again.
const ttlMs = 4000
const maxKnown = 10_000
// Callers can invent unknown keys. Few are cached, so that inventing many gains nothing.
const maxUnknown = 1000

export interface KeyCache {
  /** Returns the key with this SHA-256, or null. A fresh entry returns without a query or a promise. */
  find(keyHash: string): CachedKey | null | Promise<CachedKey | null>
  invalidateKey(keyId: string): void
  invalidateWorkspace(workspaceId: string): void
  /** For a reconnect: changes may have been missed. */
  invalidateAll(): void
}

interface Entry {
  key: CachedKey | null
  readAtMs: number
}

/** Caches keys in this process for 4 s. Concurrent requests for a key share one `read`. */
export function createKeyCache(clock: Clock, read: (keyHash: string) => Promise<CachedKey | null>): KeyCache {
  const known = new Map<string, Entry>()
  const unknown = new Map<string, Entry>()
  const pendingReads = new Map<string, Promise<CachedKey | null>>()
  let generation = 0

  async function readAndCache(keyHash: string): Promise<CachedKey | null> {
    const started = generation
    const readAtMs = clock.now().getTime()
    const key = await read(keyHash)
    // A read that started before an invalidation may be stale: it is used once and not cached.
    if (started === generation) {
      if (key === null) addEntry(unknown, maxUnknown, keyHash, { key, readAtMs })
      else addEntry(known, maxKnown, keyHash, { key, readAtMs })
    }
    return key
  }

  function find(keyHash: string): CachedKey | null | Promise<CachedKey | null> {
    const entry = known.get(keyHash) ?? unknown.get(keyHash)
    const ageMs = entry === undefined ? ttlMs : clock.now().getTime() - entry.readAtMs
    if (entry !== undefined && ageMs >= 0 && ageMs < ttlMs) return entry.key
    const started = pendingReads.get(keyHash)
    if (started !== undefined) return started
    known.delete(keyHash)
    unknown.delete(keyHash)
    const promise = readAndCache(keyHash).finally(() => {
      if (pendingReads.get(keyHash) === promise) pendingReads.delete(keyHash)
    })
    pendingReads.set(keyHash, promise)
    return promise
  }

  function invalidate(matches: (key: CachedKey) => boolean): void {
    generation++
    // Later requests must not join a read that started before.
    pendingReads.clear()
    unknown.clear()
    for (const [keyHash, { key }] of known) {
      if (key !== null && matches(key)) known.delete(keyHash)
    }
  }

  return {
    find,
    invalidateKey: (keyId) => invalidate((key) => key.caller.keyId === keyId),
    invalidateWorkspace: (workspaceId) => invalidate((key) => key.caller.workspaceId === workspaceId),
    invalidateAll: () => invalidate(() => true),
  }
}

function addEntry(entries: Map<string, Entry>, max: number, keyHash: string, entry: Entry): void {
  const [oldest] = entries.keys()
  if (entries.size >= max && oldest !== undefined) entries.delete(oldest)
  entries.set(keyHash, entry)
}

/** The cached part of a key. It contains times, not results: expiry is checked at each request. */
export interface CachedKey {
  caller: Caller
  revoked: boolean
  /** When the previous value stopped, or stops, working; null for the current value. */
  validUntil: Date | null
  expiresAt: Date | null
  allowlist: Allowlist | null
}

export function cacheableKey(row: CachedKeyRow): CachedKey {
  // A scope unknown to this release grants nothing.
  const scopes = new Set(row.scopes.filter(isScope))
  return {
    caller: {
      workspaceId: row.workspaceId,
      keyId: row.id,
      keyName: row.name,
      scopes,
      connectionIds: row.connectionIds,
      phoneVisibility: row.phoneVisibility,
      sendLimits: { unanswered: row.unansweredSends, daily: row.dailySends },
      agentSettings: {
        quietSeconds: row.quietSeconds,
        maxParts: row.maxParts ?? row.agentMaxParts,
        showTyping: row.showTyping,
        approval: row.approval,
        toolsOff: row.toolsOff,
        instructionsVersion: row.instructionsVersion,
      },
      workspace: {
        ...pickLeadSettings(row),
        leadsEnabled: row.leadsEnabled,
        inboxEnabled: row.inboxEnabled,
        inboxAvailable: row.inboxAvailable,
        hours: row.hours,
        ...(row.isSandbox && { isSandbox: true as const }),
      },
      may: (scope) => scopes.has(scope),
      ...(row.oauthClient !== null && { isOAuth: true }),
    },
    revoked: row.revokedAt !== null,
    validUntil: row.validUntil,
    expiresAt: row.expiresAt,
    allowlist: compileAllowlist(row.allowlist),
  }
}

/** Returns whether a key may be used from an address; null is an unknown address. */
type Allowlist = (address: string | null) => boolean

/** Compiles the allowlist of one key. Null for an empty list, which allows any address, even an unknown one. */
export function compileAllowlist(entries: readonly string[]): Allowlist | null {
  if (entries.length === 0) return null
  const ranges = entries.map((entry) => normalRange(entry)).filter((range) => range !== null)
  const contains: AddressSet = addressSet(ranges)
  return (address) => address !== null && contains(address)
}
