import type { FastifyRequest } from 'fastify'
import type { LeadSettings } from '../../base/lead-settings.ts'
import type { OpeningHours } from '../../team/opening-hours.ts'
import type { Scope } from './scopes.ts'

/** Who calls, and what the call may see: one API key with the settings of its workspace. */
export interface Caller {
  workspaceId: string
  keyId: string
  keyName: string
  scopes: ReadonlySet<Scope>
  /** Connections that the key may see; empty means every connection of the workspace. */
  connectionIds: readonly string[]
  phoneVisibility: 'full' | 'masked'
  /** What the team has set for this key. */
  sendLimits: SendLimits
  workspace: CallerWorkspace
  may(scope: Scope): boolean
}

/** How much may be sent with a key; null is the default of the interface that it comes by. */
export interface SendLimits {
  /** Messages in a conversation since the customer's last one. */
  unanswered: number | null
  /** Messages in a UTC day. */
  daily: number | null
}

export interface CallerWorkspace extends LeadSettings {
  leadsEnabled: boolean
  inboxEnabled: boolean
  inboxAvailable: boolean
  /** When people are there; null: the workspace says nothing of it. */
  hours: OpeningHours | null
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the hooks of the guard; read it with `callerOf`. */
    caller?: Caller
    /** What an agent called by a name of its own, and the status that it was told where that of HTTP says less. */
    call?: { verb?: string; status?: number }
  }
}

/** The caller of a request that has passed one of the guard's hooks. */
export function callerOf(request: FastifyRequest): Caller {
  if (request.caller === undefined) throw new Error('This route has no guard: it needs one of its onRequest hooks')
  return request.caller
}
