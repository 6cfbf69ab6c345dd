import { clientAddressReader, type KeyGuard } from '../auth/api-keys/authenticate.ts'
import { repeatAfterPause } from '../base/async/loop.ts'
import { localUrl } from '../base/outgoing/address.ts'
import type { App } from '../base/route.ts'
import { runStep } from '../base/run-step.ts'
import { adapterOf, type ChannelAdapters } from '../channels/adapter.ts'
import { observeConnectors, openAdapters } from '../channels/adapters.ts'
import { createCallbackConnectionCache } from '../channels/callback-connections.ts'
import type { ChannelEvent, Customer, ReceiveEvents } from '../channels/channel-event.ts'
import { channelTeamRoutes } from '../channels/connection/connection-routes.ts'
import { findConnection, findConnections } from '../channels/connection/queries.ts'
import { applyAcceptance, applyPlatformSignal, applyRefusal } from '../channels/health/platform-signals.ts'
import type { OpenStoredFile } from '../channels/media-transport.ts'
import type { SyncDeps } from '../channels/templates/sync-templates.ts'
import type { VisitorDeps } from '../channels/website/visitor-context.ts'
import { visitorRoutes } from '../channels/website/visitor-routes.ts'
import { widgetRoutes } from '../channels/website/widget-files.ts'
import type { Live } from '../events/live.ts'
import { inboxRoutes } from '../inbox/api/routes.ts'
import type { InboxDeps } from '../inbox/conversation/conversation.ts'
import { recordVolumeTier } from '../inbox/costs/volume-tiers.ts'
import { openUpload } from '../inbox/media/attached-uploads.ts'
import type { FetcherDeps } from '../inbox/media/media-fetcher.ts'
import { findFileOf } from '../inbox/media/media-queries.ts'
import { createPreviews, type Previews } from '../inbox/media/preview.ts'
import type { UploadDeps } from '../inbox/media/uploads.ts'
import { createTyping, type Typing } from '../inbox/read/typing.ts'
import { createReceive } from '../inbox/receive/receive.ts'
import type { InboundCustomer, ReceiveDeps } from '../inbox/receive/receiver.ts'
import { readRules } from '../inbox/routing/lock-routing.ts'
import type { SendDeps } from '../inbox/send/send-deps.ts'
import { openSendWakeups } from '../inbox/send/send-deps.ts'
import { sendRatesOf } from '../inbox/send/send-rate.ts'
import { inboxTeamRoutes } from '../inbox/team-api/inbox-routes.ts'
import {
  createPresence,
  type Presence,
  publishConversationUpdates,
  publishPresence,
} from '../inbox/team-api/live-updates.ts'
import { recordAdTouches } from '../leads/sources/ad-touches.ts'
import { createTouch, fieldsOfUrl } from '../leads/sources/attribution.ts'
import {
  type ChatCustomer,
  createLeadsFromChat,
  findChatLead,
  findChatLeads,
  findLeadPhones,
} from '../leads/write/create-from-chat.ts'
import type { TeamGuard } from '../team/member.ts'
import { serviceOf, serviceReader } from '../workspaces/service/service-settings.ts'
import type { Runtime } from './runtime.ts'

const presenceSweepMs = 2_000

export interface Inbox {
  /** Dependencies for sending, for other interfaces. */
  sends: SendDeps
  /** Dependencies for uploading files to send. */
  uploads: UploadDeps
  /** Shows customers that an answer is being written. */
  typing: Typing
  /** Adds the team's routes, once its guard exists. */
  serveTeam(teamGuard: TeamGuard, live: Live): Promise<void>
}

export async function serveInbox(app: App, runtime: Runtime, guard: KeyGuard): Promise<Inbox> {
  const { config, log, clock, db, keyStore, outgoing } = runtime
  const adapters: ChannelAdapters = adaptersOf(runtime)
  const receive = inboxReceive(runtime)
  const sends = sendDeps(runtime, receive)

  inboxRoutes(app, sends, guard)
  const connections = createCallbackConnectionCache(runtime)
  const callbacks = { db, keyStore, clock, log, receive, connections }
  for (const { callbackRoutes } of Object.values(adapters)) callbackRoutes?.(app, callbacks)
  const { publicUrl, trustedProxies } = config.http
  widgetRoutes(app, { ...callbacks, publicUrl })
  visitorRoutes(app, {
    ...{ ...callbacks, publicUrl, limiter: runtime.limiter, clientAddress: clientAddressReader(trustedProxies) },
    openFile: openFileOf(runtime, 'website'),
    openReceived: receivedFileOpener(runtime),
    readHours: async (workspaceId, connectionId) => {
      const [service, ruleOf] = await Promise.all([
        serviceReader(db)(workspaceId),
        readRules(db.sql, workspaceId, [connectionId]),
      ])
      return serviceOf(service, ruleOf(connectionId).teamId).hours
    },
    createLead: (workspaceId, visitor, pageUrl) => {
      const touch = createTouch('website', clock.now(), fieldsOfUrl(pageUrl))
      return createLeads(runtime, workspaceId, [{ ...visitor, adPlatform: null, touch }])
    },
  })
  const teamDeps = {
    db,
    keyStore,
    clock,
    log,
    publicUrl,
    simulatorUrl: simulatorUrlOf(config),
    outgoing,
    adapters,
  }
  const previews = createPreviews(runtime)
  app.addHook('onClose', () => previews.close())
  const uploads: UploadDeps = { db, keyStore, clock, log, store: runtime.media, previews, adapters }
  const typing = createTyping(sends)
  return {
    sends,
    uploads,
    typing,
    serveTeam: async (teamGuard, live) => {
      const presence = await followTeam(app, runtime, live)
      const team = { ...sends, ...uploads, publicUrl, presence, typing }
      inboxTeamRoutes(app, team, teamGuard)
      channelTeamRoutes(app, teamDeps, teamGuard)
    },
  }
}

/** Dependencies for sending; `receive` takes what a refusal says about the customer. */
export function sendDeps(runtime: Runtime, receive = inboxReceive(runtime)): SendDeps {
  const { log, clock, db } = runtime
  const adapters = adaptersOf(runtime)
  return {
    ...inboxDeps(runtime),
    log,
    wakeups: openSendWakeups(db),
    sendRatesOf: runtime.sendRatesOf ?? sendRatesOf,
    connectionsIn: findConnections,
    mediaTransportOf: (channel) => adapters[channel].media,
    store: runtime.media,
    recordRefusal: async (connection, effect, errorCode, to) => {
      await applyRefusal(runtime, connection, effect, errorCode)
      const customer = { ...to, parentUserId: null, name: null }
      if (errorCode === optedOutCode) await receive(connection, [{ ...optOut(customer, clock.now()), isOurTime: true }])
    },
    recordAcceptance: (connection, reason) => applyAcceptance(runtime, connection, reason),
    step: runStep,
  }
}

/** Publishes changes and presence to open pages. */
async function followTeam(app: App, runtime: Runtime, live: Live): Promise<Presence> {
  const { db, clock, log, repeat = repeatAfterPause } = runtime
  const deps = { ...runtime, findLeads: createFindLeads(runtime), live }
  const onError = (error: unknown) => log.warn('failed to share presence with other processes', {}, error)
  const presence: Presence = await createPresence({
    db,
    clock,
    changed: (conversation) => void publishPresence(deps, presence, conversation).catch(onError),
    onError,
  })
  const stop = publishConversationUpdates(deps)
  const sweeping = repeat(presenceSweepMs, async () => presence.removeExpired(), onError)
  app.addHook('preClose', async () => {
    stop()
    await sweeping.stop()
  })
  return presence
}

export function templateDeps(runtime: Runtime): SyncDeps {
  const { db, keyStore, clock, log } = runtime
  return { db, keyStore, clock, log, adapters: adaptersOf(runtime) }
}

export function fetchDeps(runtime: Runtime, previews: Previews): FetcherDeps {
  return {
    ...runtime,
    store: runtime.media,
    adapters: adaptersOf(runtime),
    openConnection: openConnectionOf(runtime),
    recordOutage: (connection, errorCode) => applyRefusal(runtime, connection, 'connection_unavailable', errorCode),
    observe: runtime.metrics.fetched,
    previews,
    random: Math.random,
    step: runStep,
  }
}

/** Returns how files that linked devices send, or visitors of websites download, are opened. */
export function openFileOf(runtime: Runtime, channel: 'unofficial' | 'website' = 'unofficial'): OpenStoredFile {
  const limits = adaptersOf(runtime)[channel].media?.limits
  const deps = { ...runtime, store: runtime.media }
  return async (workspaceId, id) => (limits === undefined ? null : openUpload(deps, limits, workspaceId, id))
}

/** Returns how a visitor's own file is opened, by the message that brought it. */
function receivedFileOpener(runtime: Runtime): VisitorDeps['openReceived'] {
  const open = openFileOf(runtime, 'website')
  return async ({ workspaceId, id }, externalId) => {
    const keyring = await runtime.keyStore.keyring(workspaceId)
    const fileId = await findFileOf({ sql: runtime.db.sql, keyring, workspaceId }, id, externalId)
    return fileId === undefined ? null : open(workspaceId, fileId)
  }
}

const openConnectionOf =
  ({ db, keyStore }: Runtime): InboxDeps['openConnection'] =>
  async (workspaceId, id) =>
    (await findConnection(db.sql, await keyStore.keyring(workspaceId), workspaceId, id)) ?? null

/** Finds the leads whose names the inbox shows for customers. */
export const createFindLeads =
  ({ db, keyStore }: Runtime): InboxDeps['findLeads'] =>
  (workspaceId, phones) =>
    findChatLeads({ db, keyStore }, workspaceId, phones)

function inboxDeps(runtime: Runtime): InboxDeps {
  const { db, keyStore, clock } = runtime
  return {
    db,
    keyStore,
    clock,
    connectors: connectorsOf(runtime),
    openConnection: openConnectionOf(runtime),
    findLead: (workspaceId, phone) => findChatLead({ db, keyStore, clock }, workspaceId, phone),
    findLeads: createFindLeads(runtime),
    findLeadPhones: (workspaceId, search) => findLeadPhones(runtime, workspaceId, search),
  }
}

// A port that the system chooses is known only to the simulator.
export function simulatorUrlOf({ simulator: { enabled, host, port, url } }: Runtime['config']): string | null {
  return url ?? (enabled && port !== 0 ? localUrl(host, port) : null)
}

export const adaptersOf = (runtime: Runtime): ChannelAdapters => openAdapters(runtime, runtime.config.http.publicUrl)

/** Returns the connectors of the configured channels. */
export function connectorsOf(runtime: Runtime): InboxDeps['connectors'] {
  const { connectors, metrics } = runtime
  const adapters = adaptersOf(runtime)
  return observeConnectors((channel) => connectors?.[channel] ?? adapters[channel].connector, metrics.sent)
}

/** The platform's error code for a marketing message to a customer who has opted out. */
const optedOutCode = '131050'

const optOut = (customer: Customer, at: Date): Extract<ChannelEvent, { type: 'marketing_preference' }> => ({
  ...{ type: 'marketing_preference', customer, isStopped: true, source: 'refused_send', at },
})

async function createLeads(runtime: Runtime, workspaceId: string, customers: readonly ChatCustomer[]): Promise<void> {
  // The messages are stored even if the leads cannot be created.
  const onError = (error: unknown) =>
    runtime.log.warn('failed to create a lead for a customer; retrying with the next message', { workspaceId }, error)
  await createLeadsFromChat(runtime, workspaceId, customers, onError).catch(onError)
}

/** Keeps which ads brought customers to the chat, for those who are leads. */
async function recordAds(runtime: Runtime, workspaceId: string, writers: readonly InboundCustomer[]): Promise<void> {
  const brought = writers.flatMap(({ phone, referral }) =>
    phone === null || referral === null ? [] : { phone, referral },
  )
  if (brought.length === 0) return
  await recordAdTouches(runtime, workspaceId, brought).catch((error: unknown) =>
    runtime.log.warn('failed to keep the ad of a customer; their next ad is kept', { workspaceId }, error),
  )
}

/** Returns the function to which channels pass their platforms' events. */
export function inboxReceive(runtime: Runtime): ReceiveEvents {
  const { metrics } = runtime
  const adapters = adaptersOf(runtime)
  const deps: ReceiveDeps = {
    ...runtime,
    onConnectionEvent: async (receiver, event) => {
      if (event.type === 'volume_tier') await recordVolumeTier(runtime.db, receiver, event)
      else await applyPlatformSignal(runtime, receiver, event)
    },
    onSendRefused: async (receiver, code, { customer, at }) => {
      await applyRefusal(runtime, receiver, adapterOf(adapters, receiver).effectOfCode(code), code)
      if (code === optedOutCode && customer !== null) await receive(receiver, [optOut(customer, at)])
    },
    onCustomersWrote: async (workspaceId, writers) => {
      const customers = writers.map(({ name, phone, referral }): ChatCustomer => {
        // Only the maker of this chat application shows ads that lead into it.
        const isOfAd = referral?.source_type === 'ad' || Boolean(referral?.ctwa_clid)
        return { name, phone, adPlatform: isOfAd ? 'meta' : null }
      })
      await createLeads(runtime, workspaceId, customers)
      await recordAds(runtime, workspaceId, writers)
    },
  }
  const receive = createReceive(deps)
  return async (connection, events) => {
    await receive(connection, events)
    for (const event of events) {
      metrics.received(connection.channel, event.type)
      if (event.type !== 'status' || event.pricing === undefined) continue
      metrics.priced(connection.channel, event.pricing.category, event.pricing.type)
    }
  }
}
