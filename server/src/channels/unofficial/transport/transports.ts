import type { Log } from '../../../base/log.ts'
import type { Outgoing } from '../../../base/outgoing/guarded-fetch.ts'
import type { SessionConnection } from '../../connection/connection.ts'
import { baileysTransport } from './baileys-transport.ts'
import { simulatedTransport } from './simulated-transport.ts'
import type { Transport } from './transport.ts'

/** What carries each connection's session: Baileys to the real network, or the way to a simulator. */
export function openTransports(deps: { log: Log; outgoing: Outgoing }): (connection: SessionConnection) => Transport {
  const real = baileysTransport(deps)
  const simulated = simulatedTransport(deps.outgoing)
  return ({ settings }) => (settings.baseUrl === null ? real : simulated)
}
