import type { ShiftedClock } from '../../server/src/base/clock.ts'
import type { Log } from '../../server/src/base/log.ts'
import type { Journal, Scheduler, WebhookSender } from './callbacks/webhook-sender.ts'
import type { Fault } from './faults.ts'
import type { FileStore } from './files/file-store.ts'
import type { AdLead } from './lead-ads.ts'
import type { LinkedNetwork } from './linked/network.ts'
import type { BusinessNumber, Customer, World } from './world.ts'

/** Time until each status, from the one before. */
export interface StatusTimes {
  sentMs: number
  deliveredMs: number
  readMs: number
}

/** The simulated platform: its state and its services. */
export interface Platform {
  clock: ShiftedClock
  log: Log
  world: World
  /** Network of phones and linked devices. */
  linked: LinkedNetwork
  files: FileStore
  scheduler: Scheduler
  webhookSender: WebhookSender
  journal: Journal
  faults: Fault[]
  ladder: StatusTimes
  /** Leads of ads by id. */
  adLeads: Map<string, AdLead>
  /** Notifies the open pages of phones of a change. */
  changed(): void
}

/** Customer's chat with a number of the platform. */
export interface Chat {
  platform: Platform
  number: BusinessNumber
  customer: Customer
}
