import type { FastifyReply } from 'fastify'
import type { Caller } from './caller.ts'
import { rejectKey } from './reject-key.ts'
import type { Scope } from './scopes.ts'

/** Throws the 401 that names the scopes unless the caller has one of them. */
export function requireScope(caller: Caller, anyOf: readonly Scope[]): void {
  if (!anyOf.some((scope) => caller.may(scope))) throw rejectKey({ lacks: anyOf })
}

/** `leads.delete`, or `leads.write` with warnings for as long as that is accepted. */
export function requireDeleteScope(caller: Caller, reply: FastifyReply, now: Date): void {
  if (caller.may('leads.delete')) return
  if (!caller.may('leads.write') || !legacyDeleteIsAccepted(now)) throw rejectKey({ lacks: ['leads.delete'] })
  setLegacyDeleteHeaders(reply)
}

// `leads.write` deletes leads through 30 September 2026 UTC, and not after.
const endsAt = new Date('2026-10-01T00:00:00Z')
const deprecatedAt = new Date('2026-01-01T00:00:00Z')
const warning = 'Scope leads.write deletes leads only until 30 September 2026. Use a key with scope leads.delete.'

function legacyDeleteIsAccepted(now: Date): boolean {
  return now < endsAt
}

function setLegacyDeleteHeaders(reply: FastifyReply): void {
  reply.header('x-service-deprecation-warning', warning)
  reply.header('warning', `299 - "${warning}"`)
  reply.header('deprecation', `@${deprecatedAt.getTime() / 1000}`)
  reply.header('sunset', endsAt.toUTCString())
}
