import type { IncomingMessage } from 'node:http'
import type { FastifyReply, FastifyRequest, onRequestAsyncHookHandler } from 'fastify'
import { batch } from '../../base/async/batch.ts'
import type { Clock } from '../../base/clock.ts'
import { type Db, isRolledBack, type Sql } from '../../base/db.ts'
import { type AddressSet, addressSet, normalAddress, normalRange } from '../../base/outgoing/address.ts'
import { runAsServiceFor, setWorkspace } from '../../base/scheduling/work-context.ts'
import type { Limiter, RateLimitResult } from '../rate-limit/limiter.ts'
import { createLookupLimit, type LookupLimitOf } from '../rate-limit/lookup-limit.ts'
import {
  countRequest,
  type Limits,
  limitOf,
  setRateLimitHeaders,
  setUncountedHeaders,
} from '../rate-limit/request-limits.ts'
import {
  type ApiArea,
  authorizeFeed,
  authorizeKey,
  type Caller,
  callerOf,
  type InboxScope,
  type LeadsScope,
  rejectKey,
  type Scope,
} from './caller.ts'
import { type CachedKey, cacheableKey, createKeyCache, type KeyCache } from './key-cache.ts'
import { createLastCalls, type LastCalls } from './last-calls.ts'
import {
  type CachedKeyRow,
  hashKeyValue,
  isAccessToken,
  isKeyValue,
  selectKeysByHash,
  selectKeysByToken,
} from './queries.ts'

export interface KeyGuardOptions {
  db: Db
  clock: Clock
  limits: Limits
  /** Proxies whose `X-Forwarded-For` is trusted, as addresses or CIDR ranges. */
  trustedProxies: readonly string[]
  limiter: Limiter
}

/** Guards every route that takes an API key. Each hook replies with 401, 403, 429 and 503, in this order. */
export interface KeyGuard {
  /** For routes of the leads interface. Requires any one of the scopes. */
  leads(...anyOf: [LeadsScope, ...LeadsScope[]]): onRequestAsyncHookHandler
  /** Requires `leads.delete`, or `leads.write` with warnings while that is accepted. */
  deleteLeads(): onRequestAsyncHookHandler
  /** For routes of the inbox interface. Requires any one of the scopes. */
  inbox(...anyOf: [InboxScope, ...InboxScope[]]): onRequestAsyncHookHandler
  /** For the event feed: requires a key that can read leads, inbox or both. */
  events(): onRequestAsyncHookHandler
  /** Reads the key of a waiting feed request again. Throws the error that the hook would reply with. */
  stillReads(request: FastifyRequest, reply: FastifyReply): Promise<void>
  /**
   * Only identifies the caller. For interfaces that learn the operation later and then call `authorize`. OAuth access
   * tokens are for `/mcp`, which alone accepts them.
   */
  anyKey(accepts?: 'keys and tokens'): onRequestAsyncHookHandler
  /**
   * Checks scope, plan, rate and availability for an identified caller; throws the errors that the hooks reply with.
   * Returns the state of the rate limit, null if there is none.
   */
  authorize(caller: Caller, area: ApiArea, anyOf: readonly [Scope, ...Scope[]]): Promise<RateLimitResult | null>
  /** Lookup limits of keys that see masked phones. */
  lookupLimits: LookupLimitOf
  /** Records the result of a request with a key, for its list of last calls. Call it after the response. */
  recordCall(request: FastifyRequest, reply: FastifyReply): void
  lastCalls: LastCalls['read']
  /** Call it right after this node has revoked or rotated a key. */
  forgetKey(keyId: string): void
  close(): Promise<void>
}

export async function createKeyGuard({
  db,
  clock,
  limits,
  trustedProxies,
  limiter,
}: KeyGuardOptions): Promise<KeyGuard> {
  const readKey = createKeyReader(db, selectKeysByHash)
  const readToken = createKeyReader(db, selectKeysByToken)
  const keys = createKeyCache(clock, (text) =>
    text.startsWith(tokenMark) ? readToken(text.slice(tokenMark.length)) : readKey(text),
  )
  const authentication = { keys, clock, clientAddress: clientAddressReader(trustedProxies) }
  const lastCalls = createLastCalls(db, clock)
  await db.listen('api_keys', keys.invalidateKey)
  await db.listen('workspaces', keys.invalidateWorkspace)
  const unsubscribe = db.onReconnect(keys.invalidateAll)

  const hook = (area: ApiArea | 'events', checkScope: CheckScope): onRequestAsyncHookHandler =>
    async function guardRequest(request, reply) {
      const caller = await identify(authentication, request, reply, limitOf(limits, area), checkScope)
      lastCalls.recordUse(caller)
      const take = await countRequest(limits, limiter, caller, area)
      if (take !== null) setRateLimitHeaders(reply, take)
      if (area === 'events') authorizeFeed(caller, take)
      else authorizeKey(caller, area, take)
    }
  const requireFeedScope: CheckScope = (caller) => requireScope(caller, ['leads.read', 'inbox.read'])

  return {
    leads: (...anyOf) => hook('leads', (caller) => requireScope(caller, anyOf)),
    inbox: (...anyOf) => hook('inbox', (caller) => requireScope(caller, anyOf)),
    deleteLeads: () => hook('leads', (caller, reply) => requireDeleteScope(caller, reply, clock.now())),
    events: () => hook('events', requireFeedScope),
    stillReads: async (request, reply) => {
      keys.invalidateKey(callerOf(request).keyId)
      const limit = limitOf(limits, 'events')
      authorizeFeed(await identify(authentication, request, reply, limit, requireFeedScope), null)
    },
    anyKey: (accepts) => async (request) => {
      request.caller = await authenticate(authentication, request.raw, accepts)
      setWorkspace(request.caller.workspaceId)
      lastCalls.recordUse(request.caller)
    },
    authorize: async (caller, area, anyOf) => {
      requireScope(caller, anyOf)
      const take = await countRequest(limits, limiter, caller, area)
      authorizeKey(caller, area, take)
      return take
    },
    lookupLimits: createLookupLimit({ limiter, clock }),
    recordCall: ({ caller, call = {}, method, routeOptions }, { statusCode, elapsedTime }) => {
      if (caller === undefined) return
      const { verb = null, status = statusCode } = call
      const route = routeOptions.url ?? ''
      lastCalls.recordCall(caller, { at: clock.now(), method, route, verb, status, ms: Math.round(elapsedTime) })
    },
    lastCalls: lastCalls.read,
    forgetKey: keys.invalidateKey,
    close: async () => {
      unsubscribe()
      // While the database is unavailable the last minute of calls is lost, as in a crash. That must not make a stop
      // fail.
      await lastCalls.close().catch(() => {})
    },
  }
}

// Batches lookups, so that invented keys cost a place in a statement rather than a query each. Runs as the service,
// outside the fair queues of workspaces.
function createKeyReader(
  db: Db,
  select: (sql: Sql, hashes: readonly string[]) => Promise<(CachedKeyRow | null)[]>,
): (hash: string) => Promise<CachedKey | null> {
  const read = batch<string, CachedKey | null>({
    maxGroups: 2,
    maxGroupSize: 100,
    work: (_all, hashes) =>
      runAsServiceFor(async () => {
        const rows = await select(db.sql, hashes)
        return rows.map((row) => (row === null ? null : cacheableKey(row)))
      }),
    isRolledBack,
  })
  return (hash) => read('', hash)
}

type CheckScope = (caller: Caller, reply: FastifyReply) => void

async function identify(
  authentication: Authentication,
  request: FastifyRequest,
  reply: FastifyReply,
  limit: number,
  checkScope: CheckScope,
): Promise<Caller> {
  try {
    const caller = await authenticate(authentication, request.raw)
    setWorkspace(caller.workspaceId)
    // Set before the scope check, so that refusals appear in the key's last calls.
    request.caller = caller
    checkScope(caller, reply)
    return caller
  } catch (error) {
    if (limit > 0) setUncountedHeaders(reply, limit)
    throw error
  }
}

interface Authentication {
  keys: KeyCache
  clock: Clock
  clientAddress: ClientAddress
}

/** Distinguishes hashes of access tokens from those of keys in the cache. */
const tokenMark = 'token '

/** Returns the caller of the request's key or, where accepted, of its access token. Throws a 401 with the reason. */
async function authenticate(
  { keys, clock, clientAddress }: Authentication,
  request: IncomingMessage,
  accepts?: 'keys and tokens',
): Promise<Caller> {
  const value = bearerTokenOf(request)
  if (value === null) throw rejectKey('unknown')
  const isKey = isKeyValue(value)
  if (!isKey && (accepts === undefined || !isAccessToken(value))) throw rejectKey('unknown')
  const found = keys.find(isKey ? hashKeyValue(value) : tokenMark + hashKeyValue(value))
  const key = found instanceof Promise ? await found : found
  if (key === null) throw rejectKey('unknown')
  const now = clock.now()
  if (key.revoked || hasPassed(key.validUntil, now)) throw rejectKey('revoked')
  if (hasPassed(key.expiresAt, now)) throw rejectKey('expired')
  if (!isAllowedFrom(key, clientAddress, request)) throw rejectKey('address')
  return key.caller
}

// Null for several credentials: which one counts would be ambiguous, and Node would use the first.
function bearerTokenOf(request: IncomingMessage): string | null {
  const header = request.headers.authorization
  if (header === undefined || countOf('authorization', request.rawHeaders) > 1) return null
  return /^bearer +(\S+)$/i.exec(header)?.[1] ?? null
}

function countOf(name: string, rawHeaders: readonly string[]): number {
  let count = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const header = rawHeaders[at]
    if (header?.length === name.length && header.toLowerCase() === name) count++
  }
  return count
}

function hasPassed(time: Date | null, now: Date): boolean {
  return time !== null && time <= now
}

function isAllowedFrom(key: CachedKey, clientAddress: ClientAddress, request: IncomingMessage): boolean {
  return key.allowlist === null || key.allowlist(clientAddress(request))
}

/** Throws the 401 that names the scopes, unless the caller has one of them. */
function requireScope(caller: Caller, anyOf: readonly Scope[]): void {
  if (!anyOf.some((scope) => caller.may(scope))) throw rejectKey({ lacks: anyOf })
}

/** Requires `leads.delete`, or `leads.write` with warnings while that is accepted. */
function requireDeleteScope(caller: Caller, reply: FastifyReply, now: Date): void {
  if (caller.may('leads.delete')) return
  if (!caller.may('leads.write') || now >= endsAt) throw rejectKey({ lacks: ['leads.delete'] })
  reply.header('x-service-deprecation-warning', warning)
  reply.header('warning', `299 - "${warning}"`)
  reply.header('deprecation', `@${deprecatedAt.getTime() / 1000}`)
  reply.header('sunset', endsAt.toUTCString())
}

// `leads.write` deletes leads through 30 September 2026 UTC.
const endsAt = new Date('2026-10-01T00:00:00Z')
const deprecatedAt = new Date('2026-01-01T00:00:00Z')
const warning = 'Scope leads.write deletes leads only until 30 September 2026. Use a key with scope leads.delete.'

/** Returns the normalized address of a request's client, or null if unknown. */
export type ClientAddress = (request: IncomingMessage) => string | null

/**
 * Reads client addresses behind trusted proxies, given as addresses or CIDR ranges; with none, the socket address
 * counts. Calls `onUntrusted` once, when a forwarded address first comes from an unlisted peer: either a client invents
 * it, or a proxy is not listed and all its clients count as one.
 */
export function clientAddressReader(
  trustedProxies: readonly string[],
  onUntrusted: () => void = () => {},
): ClientAddress {
  const isTrusted = addressSet(trustedProxies.map((range) => normalRange(range)).filter((range) => range !== null))
  let isReported = false
  return (request) => {
    const { remoteAddress } = request.socket
    const forwardedFor = request.headers['x-forwarded-for']
    if (!isReported && forwardedFor !== undefined && !isTrusted(normalAddress(remoteAddress ?? '') ?? '::')) {
      isReported = true
      onUntrusted()
    }
    return clientAddress(remoteAddress, forwardedFor, isTrusted)
  }
}

/**
 * Walks `X-Forwarded-For` from the right, because each proxy appends the address it saw: everything left of the first
 * untrusted address was written by the caller. Returns null if a trusted proxy's entry is not an address; no allowlist
 * contains null.
 */
export function clientAddress(
  socketAddress: string | undefined,
  forwardedFor: string | string[] | undefined,
  isTrusted: AddressSet,
): string | null {
  let client = normalAddress(socketAddress ?? '')
  if (client === null || forwardedFor === undefined || !isTrusted(client)) return client
  const hops = [forwardedFor].flat().join(',').split(',')
  for (const hop of hops.reverse()) {
    client = normalAddress(withoutPort(hop.trim()))
    if (client === null || !isTrusted(client)) return client
  }
  return client
}

// Some proxies write `203.0.113.7:52011` or `[2001:db8::1]:52011`.
function withoutPort(hop: string): string {
  const bracketed = /^\[([^\]]+)\](?::\d{1,5})?$/.exec(hop)
  if (bracketed !== null) return bracketed[1] ?? ''
  return /^\d+\.\d+\.\d+\.\d+:\d{1,5}$/.test(hop) ? hop.slice(0, hop.lastIndexOf(':')) : hop
}
