import type { FastifyReply } from 'fastify'

// `leads.write` deletes leads through 30 September 2026 UTC, and not after.
const endsAt = new Date('2026-10-01T00:00:00Z')
const deprecatedAt = new Date('2026-01-01T00:00:00Z')
const warning = 'Scope leads.write deletes leads only until 30 September 2026. Use a key with scope leads.delete.'

export function legacyDeleteIsAccepted(now: Date): boolean {
  return now < endsAt
}

export function setLegacyDeleteHeaders(reply: FastifyReply): void {
  reply.header('x-service-deprecation-warning', warning)
  reply.header('warning', `299 - "${warning}"`)
  reply.header('deprecation', `@${deprecatedAt.getTime() / 1000}`)
  reply.header('sunset', endsAt.toUTCString())
}
