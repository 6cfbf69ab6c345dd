// Written by `npm run contract` from the verbs of the interface for agents.
import { type AskOptions, type AskVerb, askVerb } from './ask-verb.ts'
import type { Caller } from './call.ts'

export type AgentConnection = {
  /** The chat connection. */
  id: string
  /** As the team calls it. */
  name: string
  /** `waba`: official cloud API. `unofficial`: a linked phone. `partner`: a connected partner number. */
  channel: 'waba' | 'unofficial' | 'partner'
  /** Only an `active` one sends. */
  state: 'active' | 'paused' | 'unavailable'
}

export type WhoAmI = {
  /** Your conversations have this as `owner`. */
  owner: string
  key: {
    /** Your key. */
    id: string
    /** As the team sees you. */
    name: string
    /** What you may do. */
    scopes: ('leads.read' | 'leads.write' | 'leads.delete' | 'leads.bulk' | 'inbox.read' | 'inbox.write')[]
    /** Whether you see phone numbers whole. */
    phones: 'full' | 'masked'
  }
  workspace: {
    /** The workspace. */
    id: string
    /** Whom you work for. */
    name: string
    /** National phone numbers are read as numbers of it. */
    country: string | null
    /** While true no agent owns, gets or answers a conversation. */
    agents_stopped: boolean
    /** Whether its plan includes leads. */
    has_leads: boolean
    /** Whether its plan includes the inbox. */
    has_inbox: boolean
  }
  /** Those that you see. */
  connections: AgentConnection[]
  /** Calls about conversations and calls about leads are counted apart; this is one of them. */
  limits: {
    /** How many calls a minute allows; null: any number. */
    calls_per_minute: number | null
    /** What is left at the moment; null: there is no limit. */
    calls_left: number | null
    /** When all of it is there again. */
    resets_in_seconds: number | null
  }
  /** Now, by the service. */
  time: string
  /** What can be done now, in plain sentences. */
  next: string[]
}

export type WhoAmIInput = Record<string, never>

/** All that an agent can do. Each answer has `next`: what can be done now, in words for a model. */
export class AgentCalls {
  readonly #ask: AskVerb

  constructor(call: Caller) {
    this.#ask = askVerb(call)
  }

  /** Call this first. Says which API key you are, what its scopes let you do, which connections you see, how much of the rate limit is left, and what workspace you work for. `owner` is how your own conversations name you. */
  whoAmI(input: WhoAmIInput = {}, options?: AskOptions): Promise<WhoAmI> {
    return this.#ask({ method: 'GET', path: '/me', isRepeatable: true }, input, options)
  }
}
