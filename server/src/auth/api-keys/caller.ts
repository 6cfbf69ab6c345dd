import type { FastifyRequest } from 'fastify'
import { type ApiError, forbidden, unauthorized, unavailable } from '../../base/errors.ts'
import type { LeadSettings } from '../../base/lead-settings.ts'
import type { OpeningHours } from '../../team/opening-hours.ts'
import type { Take } from '../rate-limit/limiter.ts'
import { rateLimited } from '../rate-limit/request-limits.ts'

/** What a key may be allowed to do. The set is closed: a scope that is not here grants nothing. */
export const scopes = ['leads.read', 'leads.write', 'leads.delete', 'leads.bulk', 'inbox.read', 'inbox.write'] as const

export type Scope = (typeof scopes)[number]
export type LeadsScope = Extract<Scope, `leads.${string}`>
export type InboxScope = Extract<Scope, `inbox.${string}`>

/** What most keys are for, and the least that each takes. Only agents that answer get customers who write first. */
export const purposes = {
  answering: {
    scopes: ['leads.read', 'leads.write', 'inbox.read', 'inbox.write'],
    answersNewConversations: true,
  },
  syncing: { scopes: ['leads.read', 'leads.write', 'leads.bulk'], answersNewConversations: false },
  reading: { scopes: ['leads.read', 'inbox.read'], answersNewConversations: false },
} as const satisfies Record<string, { scopes: readonly Scope[]; answersNewConversations: boolean }>

export type Purpose = keyof typeof purposes

export const isPurpose = (text: string): text is Purpose => Object.hasOwn(purposes, text)

export function isScope(text: string): text is Scope {
  return (scopes as readonly string[]).includes(text)
}

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

interface CallerWorkspace extends LeadSettings {
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

/** `unknown` is every credential that is no key of ours: none, malformed, mistyped or never issued. */
type Rejection = 'unknown' | 'revoked' | 'expired' | 'address' | { lacks: readonly Scope[] }

const messages = {
  unknown: 'API key missing or not valid',
  revoked: 'API key revoked',
  expired: 'API key expired',
  address: 'API key not allowed from this address',
} as const

/** The one way in which a key is turned down: 401, with a message that names the reason and nothing else. */
export function rejectKey(reason: Rejection): ApiError {
  return unauthorized(
    typeof reason === 'string' ? messages[reason] : `API key lacks scope ${reason.lacks.join(' or ')}`,
  )
}

export type Face = 'leads' | 'inbox'

/** Throws what keeps a known caller out: 403 the plan, 429 the rate, 503 the inbox, in this order. */
export function authorizeKey({ workspace }: Caller, face: Face, take: Take | null): void {
  if (face === 'leads' && !workspace.leadsEnabled) throw forbidden('The plan of this workspace does not include leads')
  if (face === 'inbox' && !workspace.inboxEnabled) {
    throw forbidden('The plan of this workspace does not include the inbox')
  }
  if (take !== null && !take.allowed) throw rateLimited(take)
  if (face === 'inbox' && !workspace.inboxAvailable) {
    throw unavailable('The inbox is not available for this workspace at the moment', { code: 'CHAT_INBOX_UNAVAILABLE' })
  }
}

/** The faces whose events a caller may read. The inbox being away hides nothing that has happened. */
export function readableAreas({ workspace, may }: Caller): Face[] {
  const faces: Face[] = []
  if (may('leads.read') && workspace.leadsEnabled) faces.push('leads')
  if (may('inbox.read') && workspace.inboxEnabled) faces.push('inbox')
  return faces
}

/** Throws what keeps a known caller from the feed of events: 403 the plan, 429 the rate, in this order. */
export function authorizeFeed(caller: Caller, take: Take | null): void {
  if (readableAreas(caller).length === 0) {
    throw forbidden('The plan of this workspace includes no events that this key may read')
  }
  if (take !== null && !take.allowed) throw rateLimited(take)
}
