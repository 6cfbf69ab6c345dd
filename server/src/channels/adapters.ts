import { traced } from '../base/scheduling/work-context.ts'
import { type ChannelAdapter, type ChannelAdapters, type NumberCheck, noAccessFields } from './adapter.ts'
import { type CheckLine, checkLine } from './check/report.ts'
import { type Channel, channels, type SessionConnection } from './connection/connection.ts'
import type { Connector, SendResult } from './connector.ts'
import { partnerAdapter } from './partner/adapter.ts'
import { linkedMedia } from './unofficial/media.ts'
import { sessionConnector } from './unofficial/send/connector.ts'
import { channelSessionTeamRoutes, resumeSession, type SessionDeps } from './unofficial/session/pairing-routes.ts'
import { findSessionState } from './unofficial/session/session-queries.ts'
import { wabaAdapter } from './waba/adapter.ts'
import type { PlatformHttp } from './waba/platform-call.ts'
import { websiteAdapter } from './website/adapter.ts'

/** Creates the adapters of all channels. `publicUrl`: this service's URL for platforms, without trailing slash. */
export function openAdapters(deps: PlatformHttp & SessionDeps, publicUrl: string): ChannelAdapters {
  return {
    waba: wabaAdapter(deps),
    partner: partnerAdapter(deps, publicUrl),
    unofficial: sessionAdapter(deps),
    website: websiteAdapter(deps, publicUrl),
  }
}

type Outcome = SendResult['outcome'] | 'error'

/** Wraps the connectors of all channels to report the outcome and duration of each send. */
export function observeConnectors(
  connectorOf: (channel: Channel) => Connector,
  observe: (channel: Channel, outcome: Outcome, ms: number) => void,
): Record<Channel, Connector> {
  const observed = channels.map(
    (channel) => [channel, observeConnector(channel, connectorOf(channel), observe)] as const,
  )
  return Object.fromEntries(observed) as Record<Channel, Connector>
}

function observeConnector(
  channel: Channel,
  connector: Connector,
  observe: (channel: Channel, outcome: Outcome, ms: number) => void,
): Connector {
  return {
    maxTextLength: connector.maxTextLength,
    supportsChoices: connector.supportsChoices === true,
    markRead: (...read) => connector.markRead(...read),
    ...(connector.stopTyping && { stopTyping: connector.stopTyping }),
    ...(connector.cancelOrder && { cancelOrder: connector.cancelOrder }),
    send: async (connection, order) => {
      const startedMs = performance.now()
      let outcome: Outcome = 'error'
      try {
        const result = await traced('producer', 'send', { 'parley.channel': channel }, async (span) => {
          const sent = await connector.send(connection, order)
          span?.setFields({ 'parley.outcome': sent.outcome })
          return sent
        })
        outcome = result.outcome
        return result
      } finally {
        observe(channel, outcome, performance.now() - startedMs)
      }
    },
  }
}

/** Phones that link Parley as a device. Events arrive over the session, so there are no callbacks. */
const sessionAdapter = (deps: SessionDeps & Pick<PlatformHttp, 'outgoing'>): ChannelAdapter<SessionConnection> => ({
  // The number is known only after pairing; until then the connection's id keeps `numberId` unique.
  createAccess: ({ baseUrl }, id) => ({ numberId: id, accountId: null, settings: { baseUrl: baseUrl ?? null } }),
  changeableFields: [],
  secretsSent: [],
  changeAccess: ({ numberId, accountId, settings }) => ({ numberId, accountId, settings }),
  presentAccess: ({ settings: { baseUrl } }) => ({ ...noAccessFields, baseUrl }),
  webhookPath: () => null,
  verifyToken: () => null,
  checkNumber: (connection) => check(deps, connection),
  resume: (connection) => resumeSession(deps, connection),
  examine: (connection) => examineSession(deps, connection),
  connector: sessionConnector(deps),
  media: linkedMedia(deps),
  // The network's error codes are about one message; a session that cannot send is detected by its socket.
  effectOfCode: () => 'none',
  teamRoutes: (app, guard) => channelSessionTeamRoutes(app, deps, guard),
})

async function examineSession({ db }: SessionDeps, connection: SessionConnection): Promise<CheckLine[]> {
  const standing = await findSessionState(db.sql, connection)
  if (standing?.state === 'open') return [checkLine('link', 'linked')]
  return [checkLine('link', 'not_linked', { reason: standing?.reason ?? 'never_paired' })]
}

/** Makes no network call: returns the session's state as last stored by the process that holds it. */
async function check({ db }: SessionDeps, connection: SessionConnection): Promise<NumberCheck> {
  const standing = await findSessionState(db.sql, connection)
  const problem = standing === undefined ? 'never_paired' : standing.state === 'open' ? null : standing.reason
  // Pairing reserves the number.
  return { problem, number: null, isOnPhone: true }
}
