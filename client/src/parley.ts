import { createCaller, type ParleyOptions } from './call.ts'
import { Events } from './events.ts'
import { Inbox } from './inbox.ts'
import { Leads } from './leads.ts'

/** A Parley, seen with one key. */
export class Parley {
  readonly leads: Leads
  readonly inbox: Inbox
  readonly events: Events

  constructor(options: ParleyOptions) {
    const call = createCaller(options)
    this.leads = new Leads(call)
    this.inbox = new Inbox(call)
    this.events = new Events(call)
  }
}
