import type { Connector, SendResult } from './connector.ts'

type Outcome = SendResult['outcome'] | 'error'

/** A connector that tells of each send what became of it and how long it took. */
export function observedConnector(connector: Connector, observe: (outcome: Outcome, ms: number) => void): Connector {
  return {
    maxTextLength: connector.maxTextLength,
    markRead: (connection, externalId, customer) => connector.markRead(connection, externalId, customer),
    send: async (connection, order) => {
      const startedMs = performance.now()
      let outcome: Outcome = 'error'
      try {
        const result = await connector.send(connection, order)
        outcome = result.outcome
        return result
      } finally {
        observe(outcome, performance.now() - startedMs)
      }
    },
  }
}
