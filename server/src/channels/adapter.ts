import type { Static } from 'typebox'
import type { App } from '../base/route.ts'
import type { TeamGuard } from '../team/member.ts'
import type { CheckContext, NumberSetup } from './check/adapter-steps.ts'
import type { CheckLine } from './check/report.ts'
import type { Channel, Connection } from './connection/connection.ts'
import type { ConnectionChanges, connectionSchema, NewConnection } from './connection/schema.ts'
import type { Connector, RefusalEffect } from './connector.ts'
import type { NumberFacts } from './health/number-status.ts'
import type { MediaTransport } from './media-transport.ts'
import type { CallbackDeps } from './store-callback.ts'
import type { TemplateManager } from './templates/template-manager.ts'
import type { ListedTemplate } from './templates/templates.ts'

/** Everything the service needs from a channel. A new channel is a folder with an adapter, listed in `adapters.ts`. */
export interface ChannelAdapter<C extends Connection = Connection> {
  // Building and showing connections; pure functions.

  /** Returns the number, account and settings of a new connection. */
  createAccess(input: Extract<NewConnection, { channel: C['channel'] }>, id: string): PlatformAccess<C>
  /** Fields, other than the name, that a connection of the channel can change. */
  changeableFields: readonly (keyof ConnectionChanges)[]
  /** Secrets sent to the platform. They must be sent only to the server they were entered for. */
  secretsSent: readonly (keyof ConnectionChanges)[]
  changeAccess(one: C, changes: ConnectionChanges): PlatformAccess<C>
  presentAccess(one: C): PresentedAccess
  /** Path below the service's public URL; null if the platform sends no callbacks. */
  webhookPath(one: C): string | null
  /** Token that the platform sends when a person sets the webhook by hand; null if that does not apply. */
  verifyToken(one: C): string | null

  // Calls to the platform about a connection. They never throw.

  /** Checks the number at the platform. */
  checkNumber(connection: C): Promise<NumberCheck>
  /**
   * Registers the callback URL at the platform. Returns null, or the reason for a failure. Only for a number that is
   * known to be connected here: registration diverts callbacks from their previous target. Without it, a person sets
   * the URL by hand.
   */
  registerWebhook?(connection: C): Promise<string | null>
  /** Resumes a connection for a member: stores its current state and retries what had stopped. Replaces the check. */
  resume?(connection: C): Promise<void>
  /** Fetches all templates of the number, or fails. Absent for channels without templates. */
  fetchTemplates?(connection: C): Promise<FetchedTemplates>
  /** Creates and changes templates. Absent for channels whose templates are written elsewhere. */
  templates?: TemplateManager<C>

  /** Reads quality, limits and problems of the number. Absent for channels that only report them as events. */
  fetchNumberFacts?(connection: C): Promise<FetchedNumberFacts>

  /** Checks every step of connecting at the platform, and changes nothing there. */
  examine(connection: C, context: CheckContext): Promise<CheckLine[]>
  /** Steps of connecting that Parley performs at the platform. */
  setup?: NumberSetup<C>

  // Messages and callbacks.

  connector: Connector<C>
  /** Absent for channels without files. */
  media?: MediaTransport<C>
  /** Returns the effect of an error code in a status, received after the message was accepted. */
  effectOfCode(errorCode: string): RefusalEffect
  /** Registers callback routes. Absent for channels whose events arrive another way. */
  callbackRoutes?(app: App, deps: CallbackDeps): void
  /** Registers team routes for connections of this channel only. */
  teamRoutes?(app: App, guard: TeamGuard): void
}

export type PlatformAccess<C extends Connection> = Pick<C, 'numberId' | 'accountId' | 'settings'>

/** Result of a number check. `problem`: why it cannot be used, or null. `isOnPhone`: a phone uses it too. */
export interface NumberCheck {
  problem: string | null
  /** Platform's name for the number that our secrets belong to; null if already known. */
  number: string | null
  isOnPhone: boolean
  /** Number that customers see, in digits, if the platform returns it. */
  phone?: string | null
}

export type FetchedTemplates =
  /** `sendsMarketing`: the account has a separate endpoint for marketing templates; absent: unknown. */
  | { ok: true; templates: ListedTemplate[]; sendsMarketing?: boolean }
  /** `isDown`: the platform no longer accepts our credentials. */
  | { ok: false; errorCode: string; isDown: boolean }

export type FetchedNumberFacts = { ok: true; facts: Partial<NumberFacts> } | { ok: false; errorCode: string }

export type ChannelAdapters = { [C in Channel]: ChannelAdapter<Extract<Connection, { channel: C }>> }

/** Returns the adapter of a channel. Pass it only connections and input of that channel. */
export const adapterOf = (adapters: ChannelAdapters, { channel }: { channel: Channel }): ChannelAdapter =>
  adapters[channel] as ChannelAdapter

export const noAccessFields = {
  appId: null,
  profile: null,
  baseUrl: null,
  version: null,
  versionEndsOn: null,
  accessTokenLast4: null,
  appSecretLast4: null,
  apiKeyLast4: null,
  signingSecretLast4: null,
  widget: null,
}

/** Access settings as shown in the app, without secrets; null for fields that the channel does not have. */
export type PresentedAccess = Pick<Static<typeof connectionSchema>, keyof typeof noAccessFields>

/** Returns the last four characters of a secret; empty if it is shorter than 16, because four would be most of it. */
export const last4 = (secret: string): string => (secret.length >= 16 ? secret.slice(-4) : '')
