import type { IncomingMessage } from 'node:http'
import type { Clock } from '../../base/clock.ts'
import type { Caller } from './caller.ts'
import type { ClientAddress } from './client-address.ts'
import type { KeyCache } from './key-cache.ts'
import { hashKeyValue, isKeyValue } from './key-format.ts'
import type { KnownKey } from './known-key.ts'
import { rejectKey } from './reject-key.ts'

export interface Authentication {
  keys: KeyCache
  clock: Clock
  clientAddress: ClientAddress
}

/** The caller whose key the request holds; throws the 401 that says why there is none. */
export async function authenticate(
  { keys, clock, clientAddress }: Authentication,
  request: IncomingMessage,
): Promise<Caller> {
  const value = bearerOf(request)
  if (value === null || !isKeyValue(value)) throw rejectKey('unknown')
  const found = keys.find(hashKeyValue(value))
  const key = found instanceof Promise ? await found : found
  if (key === null) throw rejectKey('unknown')
  const now = clock.now()
  if (key.revoked || hasPassed(key.validUntil, now)) throw rejectKey('revoked')
  if (hasPassed(key.expiresAt, now)) throw rejectKey('expired')
  if (!isAllowedFrom(key, clientAddress, request)) throw rejectKey('address')
  return key.caller
}

// Null also for several credentials: which of them counts would be anybody's guess, and Node would take the first.
function bearerOf(request: IncomingMessage): string | null {
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

function isAllowedFrom(key: KnownKey, clientAddress: ClientAddress, request: IncomingMessage): boolean {
  return key.allowlist === null || key.allowlist(clientAddress(request))
}
