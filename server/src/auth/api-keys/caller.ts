import type { FastifyRequest } from 'fastify'
import { type ApiError, forbidden, unauthorized, unavailable } from '../../base/errors.ts'
import type { LeadSettings } from '../../base/lead-settings.ts'
import type { OpeningHours } from '../../team/opening-hours.ts'
import type { RateLimitResult } from '../rate-limit/limiter.ts'
import { rateLimited } from '../rate-limit/request-limits.ts'

/** Scopes of an API key. Unknown scopes grant nothing. */
export const scopes = [
  ...(['leads.read', 'leads.write', 'leads.delete', 'leads.bulk', 'inbox.read', 'inbox.write'] as const),
  ...(['knowledge.read', 'knowledge.write'] as const),
] as const

export type Scope = (typeof scopes)[number]
export type LeadsScope = Extract<Scope, `leads.${string}`>
export type InboxScope = Extract<Scope, `inbox.${string}`>

/** Presets for common uses, with the least scopes each needs. Only replying agents get new conversations. */
export const purposes = {
  replying: {
    scopes: ['leads.read', 'leads.write', 'inbox.read', 'inbox.write', 'knowledge.read'],
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

/** An authenticated API key, with the settings of its workspace. */
export interface Caller {
  workspaceId: string
  keyId: string
  keyName: string
  scopes: ReadonlySet<Scope>
  /** Connections that the key can see; empty for all connections of the workspace. */
  connectionIds: readonly string[]
  phoneVisibility: 'full' | 'masked'
  /** Limits that the team has set for this key. */
  sendLimits: SendLimits
  /** How the key works in the interface for agents. */
  agentSettings: AgentSettings
  workspace: CallerWorkspace
  /** Set for a client that a person connected by OAuth. */
  isOAuth?: boolean
  may(scope: Scope): boolean
}

/** Send limits of a key; null is the default of the interface used. */
export interface SendLimits {
  /** Messages in a conversation since the customer's last one. */
  unanswered: number | null
  /** Messages in a UTC day. */
  daily: number | null
}

/** Settings of the interface for agents; v1 knows none of them. */
export interface AgentSettings {
  /** How long a customer must have been silent before their messages become work; null is the default. */
  quietSeconds: number | null
  /** Into how many messages one text may be cut: that of the key, else of its workspace. */
  maxParts: number
  /** Whether customers see that the agent is typing when it takes their messages. */
  showTyping: boolean
  /** When a person must approve what the key sends, in every interface; null: never. */
  approval: ApprovalRules | null
  /** Names of the tools that the team has switched off for the key. */
  toolsOff: readonly string[]
  /** Counts the publications of instructions that may concern the key. */
  instructionsVersion: number
}

/** Which answers of a key need approval: those to which one of these applies. */
export interface ApprovalRules {
  always: boolean
  /** Outside the business hours of the workspace. */
  outsideHours: boolean
  /** The first answer of a conversation. */
  firstAnswers: boolean
  /** In conversations with one of these labels. */
  labelIds: string[]
  /** Texts that name an amount of money of at least so much; null: none. */
  amountFrom: number | null
}

/** Returns the rules by which a person must approve what a key sends, as part of a sender. */
export const approvalOf = ({ agentSettings: { approval: rules }, workspace: { hours } }: Caller) =>
  rules === null ? {} : { approval: { rules, hours } }

interface CallerWorkspace extends LeadSettings {
  leadsEnabled: boolean
  inboxEnabled: boolean
  inboxAvailable: boolean
  /** Business hours; null if the workspace has not set them. */
  hours: OpeningHours | null
  /** It exists only to try an agent, whose calls are recorded. */
  isSandbox?: true
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the guard's hooks. Read it with `callerOf`. */
    caller?: Caller
    /** The tool that an agent called, and its status if the HTTP status does not reflect it. */
    call?: { verb?: string; status?: number }
  }
}

/** Returns the caller of a request that has passed one of the guard's hooks. */
export function callerOf(request: FastifyRequest): Caller {
  if (request.caller === undefined) throw new Error('This route has no guard: it needs one of its onRequest hooks')
  return request.caller
}

/** Reason for a 401. `unknown` covers missing, malformed, mistyped and never issued keys. */
type Rejection = 'unknown' | 'revoked' | 'expired' | 'address' | { lacks: readonly Scope[] } | { toolOff: string }

const messages = {
  unknown: 'API key missing or not valid',
  revoked: 'API key revoked',
  expired: 'API key expired',
  address: 'API key not allowed from this address',
} as const

/** Returns the 401 for a rejected key, with a message that names only the reason. */
export function rejectKey(reason: Rejection): ApiError {
  if (typeof reason === 'string') return unauthorized(messages[reason])
  return unauthorized(
    'lacks' in reason
      ? `API key lacks scope ${reason.lacks.join(' or ')}`
      : `The tool ${reason.toolOff} is switched off for this API key`,
  )
}

export type ApiArea = 'leads' | 'inbox'

/** Throws if the caller cannot use the interface: 403 plan, 429 rate, 503 inbox, in this order. */
export function authorizeKey({ workspace }: Caller, area: ApiArea, take: RateLimitResult | null): void {
  if (area === 'leads' && !workspace.leadsEnabled) throw forbidden('The plan of this workspace does not include leads')
  if (area === 'inbox' && !workspace.inboxEnabled) {
    throw forbidden('The plan of this workspace does not include the inbox')
  }
  if (take !== null && !take.allowed) throw rateLimited(take)
  if (area === 'inbox' && !workspace.inboxAvailable) {
    throw unavailable('The inbox is not available for this workspace at the moment', { code: 'CHAT_INBOX_UNAVAILABLE' })
  }
}

/** Returns the interfaces whose events a caller can read. An unavailable inbox does not hide past events. */
export function readableAreas({ workspace, may }: Caller): ApiArea[] {
  const areas: ApiArea[] = []
  if (may('leads.read') && workspace.leadsEnabled) areas.push('leads')
  if (may('inbox.read') && workspace.inboxEnabled) areas.push('inbox')
  return areas
}

/** Throws if the caller cannot read the event feed: 403 plan, 429 rate, in this order. */
export function authorizeFeed(caller: Caller, take: RateLimitResult | null): void {
  if (readableAreas(caller).length === 0) {
    throw forbidden('The plan of this workspace includes no events that this key may read')
  }
  if (take !== null && !take.allowed) throw rateLimited(take)
}
