import type { App } from '../base/route.ts'
import type { TeamGuard } from '../team/member.ts'
import type { Channel, Connection } from './connection/connection.ts'
import type { ConnectionChanges, NewConnection } from './connection/schema.ts'
import type { Connector, RefusalEffect } from './connector.ts'
import type { MediaWay } from './media-transport.ts'
import type { PartnerProfileName } from './partner/settings.ts'
import type { CallbackDeps } from './store-callback.ts'
import type { PlatformTemplate } from './templates/templates.ts'

/** Everything the rest of the service asks of a channel. A new channel is a folder with one, and a line in `adapters.ts`. */
export interface ChannelAdapter<C extends Connection = Connection> {
  // What its connections are made of: pure.

  /** Returns how the platform of a new connection is reached. */
  begin(input: Extract<NewConnection, { channel: C['channel'] }>, id: string): PlatformAccess<C>
  /** What of a change a connection of the channel has, beside its name. */
  changes: readonly (keyof ConnectionChanges)[]
  /** The secrets that the platform is shown: they are for the server that they were given for. */
  secretsSent: readonly (keyof ConnectionChanges)[]
  change(one: C, changes: ConnectionChanges): PlatformAccess<C>
  show(one: C): ShownAccess
  /** Below the service's public address; null when the platform does not call. */
  webhookPath(one: C): string | null
  /** What the platform shows when somebody sets the webhook there by hand; null when nobody does. */
  verifyToken(one: C): string | null

  // What its platform is asked and told about a connection. Nothing of it throws.

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

  // Messages, and who calls.

  connector: Connector<C>
  /** Without it the channel carries no files. */
  media?: MediaWay<C>
  /** What a code means that came in a status, after the message had been accepted. */
  effectOfCode(errorCode: string): RefusalEffect
  /** What the platform calls. Without it nobody calls: events come another way. */
  callbackRoutes?(app: App, deps: CallbackDeps): void
  /** What members do with connections of this channel alone. */
  teamRoutes?(app: App, guard: TeamGuard): void
}

export type PlatformAccess<C extends Connection> = Pick<C, 'numberId' | 'accountId' | 'settings'>

/** What a connection's page shows of how its platform is reached; null for what its channel lacks. */
export interface ShownAccess {
  profile: PartnerProfileName | null
  baseUrl: string | null
  version: string | null
  /** The day on which the platform ends that version; null: not known, or none. */
  versionEndsOn: string | null
  accessTokenLast4: string | null
  appSecretLast4: string | null
  apiKeyLast4: string | null
  signingSecretLast4: string | null
}

/** What a platform says of a number: why it cannot be used or null, and whether a phone has it too. */
export interface CheckedNumber {
  problem: string | null
  /** What the platform calls the number that our secrets are for; null when that is known otherwise. */
  number: string | null
  isOnPhone: boolean
  /** The number that customers see, in digits, where the platform tells it. */
  phone?: string | null
}

export type FetchedTemplates =
  /** `sendsMarketing`: the account has an endpoint of its own for marketing templates; absent: not told. */
  | { ok: true; templates: PlatformTemplate[]; sendsMarketing?: boolean }
  /** `isDown`: the platform does not take our credential any more. */
  | { ok: false; errorCode: string; isDown: boolean }

export type ChannelAdapters = { [C in Channel]: ChannelAdapter<Extract<Connection, { channel: C }>> }

/** The adapter of a channel, to be given connections and input of that channel alone. */
export const adapterOf = (adapters: ChannelAdapters, { channel }: { channel: Channel }): ChannelAdapter =>
  adapters[channel] as ChannelAdapter

export const nothingShown: ShownAccess = {
  profile: null,
  baseUrl: null,
  version: null,
  versionEndsOn: null,
  accessTokenLast4: null,
  appSecretLast4: null,
  apiKeyLast4: null,
  signingSecretLast4: null,
}

/** What is shown of a secret. Four of a few characters would be most of it. */
export const last4 = (secret: string): string => (secret.length >= 16 ? secret.slice(-4) : '')
