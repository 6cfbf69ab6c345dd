import { traced } from '../base/shares/work.ts'
import type { ChannelAdapters } from './adapter.ts'
import { type Channel, channels } from './connection/connection.ts'
import type { Connector, SendResult } from './connector.ts'
import { partnerAdapter } from './partner/adapter.ts'
import { sessionAdapter } from './unofficial/adapter.ts'
import type { SessionDeps } from './unofficial/session/change-session.ts'
import { wabaAdapter } from './waba/adapter.ts'
import type { Wire } from './waba/exchange.ts'

/** The channels there are. `publicUrl` is where platforms reach this service, without a trailing slash. */
export function openAdapters(deps: Wire & SessionDeps, publicUrl: string): ChannelAdapters {
  return { waba: wabaAdapter(deps), partner: partnerAdapter(deps, publicUrl), unofficial: sessionAdapter(deps) }
}

type Outcome = SendResult['outcome'] | 'error'

/** The connectors of all channels, each telling of every send what became of it and how long it took. */
export function observedConnectors(
  connectorOf: (channel: Channel) => Connector,
  observe: (channel: Channel, outcome: Outcome, ms: number) => void,
): Record<Channel, Connector> {
  const observed = channels.map((channel) => {
    const connector = observedConnector(channel, connectorOf(channel), (outcome, ms) => observe(channel, outcome, ms))
    return [channel, connector] as const
  })
  return Object.fromEntries(observed) as Record<Channel, Connector>
}

function observedConnector(
  channel: Channel,
  connector: Connector,
  observe: (outcome: Outcome, ms: number) => void,
): Connector {
  return {
    maxTextLength: connector.maxTextLength,
    takesChoices: connector.takesChoices === true,
    markRead: (connection, externalId, customer) => connector.markRead(connection, externalId, customer),
    ...(connector.takeBack && { takeBack: connector.takeBack }),
    send: async (connection, order) => {
      const startedMs = performance.now()
      let outcome: Outcome = 'error'
      try {
        const result = await traced('producer', 'send', { 'parley.channel': channel }, async (span) => {
          const sent = await connector.send(connection, order)
          span?.note({ 'parley.outcome': sent.outcome })
          return sent
        })
        outcome = result.outcome
        return result
      } finally {
        observe(outcome, performance.now() - startedMs)
      }
    },
  }
}
