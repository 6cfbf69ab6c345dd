import type { FastifyReply, FastifyRequest, onRequestAsyncHookHandler } from 'fastify'
import { batch } from '../../base/async/batch.ts'
import type { Clock } from '../../base/clock.ts'
import { type Db, isUndone } from '../../base/db.ts'
import { asServiceFor, attributeTo } from '../../base/shares/work.ts'
import { createGuesses, type GuessesOf } from '../rate-limit/guesses.ts'
import type { Limiter, Take } from '../rate-limit/limiter.ts'
import { setRateLimitHeaders, setUncountedHeaders } from '../rate-limit/rate-limit-headers.ts'
import { countRequest, type Limits, limitOf } from '../rate-limit/request-limits.ts'
import { checkAdmission, checkFeedAdmission, type Face } from './admission.ts'
import { type Authentication, authenticate } from './authenticate.ts'
import { type Caller, callerOf } from './caller.ts'
import { clientAddressReader } from './client-address.ts'
import { createKeyCache } from './key-cache.ts'
import { type KnownKey, knownKey } from './known-key.ts'
import { createLastCalls, type LastCalls } from './last-calls.ts'
import { createLastUsed } from './last-used.ts'
import { selectKeysByHash } from './queries.ts'
import { requireDeleteScope, requireScope } from './require-scope.ts'
import type { InboxScope, LeadsScope, Scope } from './scopes.ts'

export interface GuardOptions {
  db: Db
  clock: Clock
  limits: Limits
  /** Proxies whose `X-Forwarded-For` is believed, as addresses or CIDR. */
  trustedProxies: readonly string[]
  limiter: Limiter
}

/** The door of every route that takes an API key. Each hook replies with 401, 403, 429 and 503, in this order. */
export interface Guard {
  /** For routes of the leads interface; any one of the scopes will do. */
  leads(...anyOf: [LeadsScope, ...LeadsScope[]]): onRequestAsyncHookHandler
  /** `leads.delete`, or `leads.write` with warnings for as long as that is accepted. */
  deleteLeads(): onRequestAsyncHookHandler
  /** For routes of the inbox interface; any one of the scopes will do. */
  inbox(...anyOf: [InboxScope, ...InboxScope[]]): onRequestAsyncHookHandler
  /** For the feed of events: a key that may read either face, or both. */
  events(): onRequestAsyncHookHandler
  /** For a request to the feed that has waited: reads its key anew, and throws what the hook would reply with. */
  stillReads(request: FastifyRequest, reply: FastifyReply): Promise<void>
  /** Only says who calls. For a face that learns later what is wanted, and then asks `admit`. */
  anyKey(): onRequestAsyncHookHandler
  /**
   * Scope, plan, rate and availability for a caller who is already known; throws what the hooks would reply with. Answers
   * what is left of the minute, null where there is no limit.
   */
  admit(caller: Caller, face: Face, anyOf: readonly [Scope, ...Scope[]]): Promise<Take | null>
  /** The guesses of keys that see phones masked. */
  guesses: GuessesOf
  /** Keeps what came of a request with a key, for those who look at its last calls. To be called when it was answered. */
  noteCall(request: FastifyRequest, reply: FastifyReply): void
  lastCalls: LastCalls['read']
  /** To be called right after a key of this node was revoked or rotated. */
  forgetKey(keyId: string): void
  close(): Promise<void>
}

export async function createGuard({ db, clock, limits, trustedProxies, limiter }: GuardOptions): Promise<Guard> {
  const keys = createKeyCache(clock, keyReader(db))
  const authentication = { keys, clock, clientAddress: clientAddressReader(trustedProxies) }
  const lastUsed = createLastUsed(db, clock)
  const lastCalls = createLastCalls(db, clock)
  await db.listen('api_keys', keys.forgetKey)
  await db.listen('workspaces', keys.forgetWorkspace)
  const stopHearing = db.onHearingAgain(keys.forgetAll)

  const hook = (face: Face, checkScope: CheckScope): onRequestAsyncHookHandler =>
    async function guardRequest(request, reply) {
      const caller = await identify(authentication, request, reply, limitOf(limits, face), checkScope)
      lastUsed.note(caller)
      const take = await countRequest(limits, limiter, caller, face)
      if (take !== null) setRateLimitHeaders(reply, take)
      checkAdmission(caller, face, take)
    }

  return {
    leads: (...anyOf) => hook('leads', (caller) => requireScope(caller, anyOf)),
    inbox: (...anyOf) => hook('inbox', (caller) => requireScope(caller, anyOf)),
    deleteLeads: () => hook('leads', (caller, reply) => requireDeleteScope(caller, reply, clock.now())),
    events: () => async (request, reply) => {
      const caller = await identify(authentication, request, reply, limitOf(limits, 'events'), (each) =>
        requireScope(each, ['leads.read', 'inbox.read']),
      )
      lastUsed.note(caller)
      const take = await countRequest(limits, limiter, caller, 'events')
      if (take !== null) setRateLimitHeaders(reply, take)
      checkFeedAdmission(caller, take)
    },
    stillReads: async (request, reply) => {
      keys.forgetKey(callerOf(request).keyId)
      const caller = await identify(authentication, request, reply, limitOf(limits, 'events'), (each) =>
        requireScope(each, ['leads.read', 'inbox.read']),
      )
      checkFeedAdmission(caller, null)
    },
    anyKey: () => async (request) => {
      request.caller = await authenticate(authentication, request.raw)
      attributeTo(request.caller.workspaceId)
      lastUsed.note(request.caller)
    },
    admit: async (caller, face, anyOf) => {
      requireScope(caller, anyOf)
      const take = await countRequest(limits, limiter, caller, face)
      checkAdmission(caller, face, take)
      return take
    },
    guesses: createGuesses({ limiter, clock }),
    noteCall: ({ caller, call = {}, method, routeOptions }, { statusCode, elapsedTime }) => {
      if (caller === undefined) return
      const { verb = null, status = statusCode } = call
      const route = routeOptions.url ?? ''
      lastCalls.note(caller, { at: clock.now(), method, route, verb, status, ms: Math.round(elapsedTime) })
    },
    lastCalls: lastCalls.read,
    forgetKey: keys.forgetKey,
    close: async () => {
      stopHearing()
      // While the database is away the last minute of notes is lost, as in a crash. That is no reason to fail a stop.
      await Promise.allSettled([lastUsed.close(), lastCalls.close()])
    },
  }
}

// Keys that somebody invents cost a place in a statement rather than one each, and do not wait in anybody's turn.
function keyReader(db: Db): (keyHash: string) => Promise<KnownKey | null> {
  const read = batch<string, KnownKey | null>({
    groups: 2,
    groupSize: 100,
    work: (_all, hashes) =>
      asServiceFor(async () => {
        const rows = await selectKeysByHash(db.sql, hashes)
        return rows.map((row) => (row === null ? null : knownKey(row)))
      }),
    isUndone,
  })
  return (keyHash) => read('', keyHash)
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
    attributeTo(caller.workspaceId)
    // Before its scopes are looked at: what a key was refused is among its last calls.
    request.caller = caller
    checkScope(caller, reply)
    return caller
  } catch (error) {
    if (limit > 0) setUncountedHeaders(reply, limit)
    throw error
  }
}
