import type { Channel, Connection } from './connection/connection.ts'
import type { PlatformTemplate } from './templates/template.ts'

/** What a platform says of a number: why it cannot be used or null, and whether a phone has it too. */
export interface CheckedNumber {
  problem: string | null
  /** What the platform calls the number that our secrets are for; null when that is known otherwise. */
  number: string | null
  isOnPhone: boolean
}

export type FetchedTemplates =
  | { ok: true; templates: PlatformTemplate[] }
  /** `isDown`: the platform does not take our credential any more. */
  | { ok: false; errorCode: string; isDown: boolean }

/** What is asked of a channel's platform and told to it about a connection, beside messages. Nothing of it throws. */
export interface Driver<C extends Connection = Connection> {
  /** Asks the platform for the number. */
  check(connection: C): Promise<CheckedNumber>
  /**
   * Tells the platform where its callbacks go: why it could not be told, or null. Only for a number that is known to be
   * connected here, since it takes the callbacks from wherever they went before. Without it a person does that by hand.
   */
  register?(connection: C): Promise<string | null>
  /** A member wants it to send again: writes where it stands, and tries anew what was given up. Instead of a check. */
  resume?(connection: C): Promise<void>
  /** All templates of the number, or none. Without it the channel has no templates. */
  fetchTemplates?(connection: C): Promise<FetchedTemplates>
}

export type Drivers = { [C in Channel]: Driver<Extract<Connection, { channel: C }>> }

/** The driver of a connection's channel, to be given that connection. */
export const driverOf = (drivers: Drivers, { channel }: Pick<Connection, 'channel'>): Driver => drivers[channel]
