import type { IncomingMessage } from 'node:http'
import type { ClientAddress } from '../../auth/api-keys/authenticate.ts'
import type { Limiter } from '../../auth/rate-limit/limiter.ts'
import { rateLimited } from '../../auth/rate-limit/request-limits.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { addressGroup } from '../../base/outgoing/address.ts'
import type { ConnectionKey } from '../connection/connection.ts'

/** Requests per minute. Every count is of one connection or workspace, so that a flood here is nobody else's. */
const perMinute = {
  reads: { visitor: 240, address: 600 },
  // Few are refused: what they cost is solving them, and a connection's count decides how much.
  challenges: { address: 30, connection: 6000 },
  sessions: { address: 15, connection: 300, workspace: 600 },
  messages: { visitor: 20, address: 60, connection: 1200, workspace: 2400 },
  files: { visitor: 6, address: 12, connection: 60, workspace: 120 },
} as const satisfies Record<string, Partial<Record<LimitedBy, number>>>

export type LimitedRequest = keyof typeof perMinute
type LimitedBy = 'visitor' | 'address' | 'connection' | 'workspace'

/** Requests of the last minute by what is counted. */
type RequestCounts = Partial<Record<LimitedBy, number>>

/** Counts a request; the narrowest limit comes first. Throws 429 beyond a limit. */
export type CountRequest = (
  what: LimitedRequest,
  from: { request: IncomingMessage; keyring: Keyring; connection: ConnectionKey; visitorId?: string },
) => Promise<RequestCounts>

/** Limits of the public routes. Addresses are counted by network and stored only as digests. */
export function createVisitorLimits(limiter: Limiter, clientAddress: ClientAddress): CountRequest {
  return async (what, { request, keyring, connection: { workspaceId, id }, visitorId }) => {
    const group = addressGroup(clientAddress(request) ?? '')
    const digest = keyring.stable('website.address', group).toString('base64url')
    const keys: Record<LimitedBy, string | undefined> = {
      visitor: visitorId,
      address: `${id}:${digest}`,
      connection: id,
      workspace: workspaceId,
    }
    const counts: RequestCounts = {}
    for (const [by, limit] of Object.entries(perMinute[what]) as [LimitedBy, number][]) {
      if (keys[by] === undefined) continue
      const taken = await limiter.take(`website:${what}:${by}:${keys[by]}`, limit)
      if (!taken.allowed) throw rateLimited(taken)
      counts[by] = taken.limit - taken.remaining
    }
    return counts
  }
}
