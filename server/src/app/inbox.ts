import type { Guard } from '../access/keys/guard.ts'
import { repeatAtPauses } from '../base/async/loop.ts'
import { localUrl } from '../base/outgoing/local-url.ts'
import type { App } from '../base/route.ts'
import { applyPlatformSignal, applyRefusal } from '../channels/apply-platform-signal.ts'
import type { Receive } from '../channels/channel-event.ts'
import type { Channel } from '../channels/connection/connection.ts'
import { findConnection } from '../channels/connection/queries.ts'
import type { Connector } from '../channels/connector.ts'
import type { Drivers } from '../channels/driver.ts'
import { openDrivers } from '../channels/drivers.ts'
import { observedConnector } from '../channels/observed-connector.ts'
import { partnerConnector } from '../channels/partner/sender.ts'
import { partnerWebhookRoutes } from '../channels/partner/webhook-routes.ts'
import { channelTeamRoutes } from '../channels/team-routes.ts'
import type { SyncDeps } from '../channels/templates/sync-templates.ts'
import { sessionConnector } from '../channels/unofficial/send/connector.ts'
import { effectOfCode } from '../channels/waba/errors.ts'
import { wabaConnector } from '../channels/waba/sender.ts'
import { wabaWebhookRoutes } from '../channels/waba/webhook-routes.ts'
import type { Live } from '../events/live.ts'
import { inboxRoutes } from '../inbox/api/routes.ts'
import type { InboxDeps } from '../inbox/conversation/conversation.ts'
import { receive } from '../inbox/receive/receive.ts'
import type { ReceiveDeps } from '../inbox/receive/receiver.ts'
import { pacesOf } from '../inbox/send/pace.ts'
import type { SendDeps } from '../inbox/send/send-deps.ts'
import { openSendWakeups } from '../inbox/send/send-wakeups.ts'
import { openPresence, type Presence } from '../inbox/team-api/presence.ts'
import { tellOfConversations, tellOfPresence } from '../inbox/team-api/team-live.ts'
import { inboxTeamRoutes } from '../inbox/team-api/team-routes.ts'
import { findLeadOfChat, findPhonesOfLeads, leadFromChat } from '../leads/write/from-chat.ts'
import type { TeamGuard } from '../team/member.ts'
import type { Runtime } from './runtime.ts'

const presenceSweepMs = 2_000

export interface Inbox {
  /** The team's side, once its guard is there. */
  serveTeam(teamGuard: TeamGuard, live: Live): Promise<void>
}

/** Puts the inbox and its channels on the server. */
export async function serveInbox(app: App, runtime: Runtime, guard: Guard): Promise<Inbox> {
  const { config, log, clock, db, vault, outgoing } = runtime
  const sends: SendDeps = {
    ...inboxDeps(runtime),
    log,
    wakes: await openSendWakeups(db),
    pacesOf,
    noteRefusal: (connection, effect, errorCode) => applyRefusal(runtime, connection, effect, errorCode),
  }

  inboxRoutes(app, sends, guard)
  const callbacks = { db, vault, clock, log, receive: inboxReceive(runtime) }
  wabaWebhookRoutes(app, callbacks)
  partnerWebhookRoutes(app, callbacks)
  const { publicUrl } = config.http
  const connections = {
    db,
    vault,
    clock,
    log,
    publicUrl,
    simulatorUrl: simulatorUrlOf(config),
    outgoing,
    drivers: driversOf(runtime),
  }
  return {
    serveTeam: async (teamGuard, live) => {
      inboxTeamRoutes(app, { ...sends, publicUrl, presence: await followTeam(app, runtime, live) }, teamGuard)
      channelTeamRoutes(app, connections, teamGuard)
    },
  }
}

/** Lets the pages that are open know what changes, and who else is there. */
async function followTeam(app: App, runtime: Runtime, live: Live): Promise<Presence> {
  const { db, clock, log, repeat = repeatAtPauses } = runtime
  const deps = { ...runtime, live }
  const onError = (error: unknown) => log.warn('presence not shared', {}, error)
  const presence: Presence = await openPresence({
    db,
    clock,
    changed: (place) => void tellOfPresence(deps, presence, place).catch(onError),
    onError,
  })
  const stop = tellOfConversations(deps)
  const sweeping = repeat(presenceSweepMs, async () => presence.sweep(), onError)
  app.addHook('preClose', async () => {
    stop()
    await sweeping.stop()
  })
  return presence
}

/** What the reading of templates stands on. */
export function templateDeps(runtime: Runtime): SyncDeps {
  const { db, vault, clock, log } = runtime
  return { db, vault, clock, log, drivers: driversOf(runtime) }
}

function inboxDeps(runtime: Runtime): InboxDeps {
  const { db, vault, clock } = runtime
  return {
    db,
    vault,
    clock,
    connectors: connectorsOf(runtime),
    openConnection: async (workspaceId, id) =>
      (await findConnection(db.sql, await vault.keyring(workspaceId), workspaceId, id)) ?? null,
    leadOf: (workspaceId, phone) => findLeadOfChat({ db, vault, clock }, workspaceId, phone),
    phonesOfLeads: (workspaceId, search) => findPhonesOfLeads(runtime, workspaceId, search),
  }
}

// A port that the system chooses is known to the simulator alone.
function simulatorUrlOf({ simulator: { enabled, host, port } }: Runtime['config']): string | null {
  return enabled && port !== 0 ? localUrl(host, port) : null
}

const driversOf = (runtime: Runtime): Drivers => openDrivers(runtime, runtime.config.http.publicUrl)

function connectorsOf(runtime: Runtime): InboxDeps['connectors'] {
  const { connectors, metrics } = runtime
  const plain: Record<Channel, Connector> = connectors ?? {
    waba: wabaConnector(runtime),
    unofficial: sessionConnector(runtime),
    partner: partnerConnector(runtime),
  }
  const observed = (channel: Channel) =>
    observedConnector(plain[channel], (outcome, ms) => metrics.sent(channel, outcome, ms))
  return { waba: observed('waba'), unofficial: observed('unofficial'), partner: observed('partner') }
}

/** Where channels hand in what their platforms tell. */
export function inboxReceive(runtime: Runtime): Receive {
  const { log, metrics } = runtime
  const deps: ReceiveDeps = {
    ...runtime,
    connectionTold: (receiver, event) => applyPlatformSignal(runtime, receiver, event),
    sendRefused: (receiver, code) => applyRefusal(runtime, receiver, effectOfCode(code), code),
    customerWrote: async ({ workspaceId }, { name, phone, referral }) => {
      // Ads that lead into this chat application are shown by its maker alone.
      const adPlatform = referral?.source_type === 'ad' || referral?.ctwa_clid ? 'meta' : null
      // The message is in whether or not there is room for a lead.
      await leadFromChat(runtime, workspaceId, { name, phone, adPlatform }).catch((error) =>
        log.warn('no lead made of a customer', { workspaceId }, error),
      )
    },
  }
  return async (connection, events) => {
    await receive(deps, connection, events)
    for (const { type } of events) metrics.received(connection.channel, type)
  }
}
