import { Agents } from './agents.ts'
import { createCaller, type ParleyOptions } from './call.ts'
import { ParleyError } from './errors.ts'
import { Events } from './events.ts'
import { Inbox } from './inbox.ts'
import { Leads } from './leads.ts'

/** Client for one Parley server and API key. */
export class Parley {
  readonly leads: Leads
  readonly inbox: Inbox
  readonly events: Events
  readonly agents: Agents

  /** Creates a client from `PARLEY_URL` and `PARLEY_API_KEY`; throws if they are not set. */
  static fromEnvironment(options: Partial<ParleyOptions> = {}): Parley {
    const { env = {} } = (globalThis as { process?: { env?: Record<string, string | undefined> } }).process ?? {}
    const { PARLEY_URL: baseUrl, PARLEY_API_KEY: apiKey } = env
    if (baseUrl === undefined || apiKey === undefined) throw new ParleyError('Set PARLEY_URL and PARLEY_API_KEY')
    return new Parley({ baseUrl, apiKey, ...options })
  }

  constructor(options: ParleyOptions) {
    const call = createCaller(options)
    this.leads = new Leads(call)
    this.inbox = new Inbox(call)
    this.events = new Events(call)
    this.agents = new Agents(call)
  }
}
