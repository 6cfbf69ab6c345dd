import type { ShiftedClock } from '../../server/src/base/clock.ts'
import type { Log } from '../../server/src/base/log.ts'
import type { Agenda, Courier, Journal } from './callbacks/webhook-sender.ts'
import type { Fault } from './faults.ts'
import type { FileStore } from './files/file-store.ts'
import type { LinkedNetwork } from './linked/network.ts'
import type { BusinessNumber, Customer, World } from './world.ts'

/** How long a message takes to each rung, from the one before. */
export interface LadderTimes {
  sentMs: number
  deliveredMs: number
  readMs: number
}

/** The simulated platform: what it knows and what drives it. */
export interface Platform {
  clock: ShiftedClock
  log: Log
  world: World
  /** The other network: phones, and the devices that are linked to them. */
  linked: LinkedNetwork
  files: FileStore
  agenda: Agenda
  courier: Courier
  journal: Journal
  faults: Fault[]
  ladder: LadderTimes
  /** Tells those who look at the phones that something is new. */
  changed(): void
}

/** A customer's chat with a number of the platform. */
export interface Chat {
  platform: Platform
  number: BusinessNumber
  customer: Customer
}
