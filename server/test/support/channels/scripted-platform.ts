import type { Channel, Connection } from '../../../src/channels/connection/connection.ts'
import type { Connector, Order, SendResult } from '../../../src/channels/connector.ts'

/** Every channel's platform, which notes what it is asked and answers as told. */
export interface FakePlatform {
  connectors: Record<Channel, Connector>
  sends: { connectionId: string; order: Order }[]
  reads: { connectionId: string; externalId: string }[]
  /** What the next sends are answered with; each is accepted unless this says otherwise. */
  answers: SendResult[]
  /** Makes `markRead` fail, which a connector should not. */
  readsFail: boolean
}

export function scriptedPlatform(): FakePlatform {
  const platform: FakePlatform = {
    connectors: {
      waba: connector(() => platform),
      unofficial: { ...connector(() => platform), takesChoices: false },
      partner: connector(() => platform),
    },
    sends: [],
    reads: [],
    answers: [],
    readsFail: false,
  }
  return platform
}

function connector(platform: () => FakePlatform): Connector {
  return {
    maxTextLength: 4096,
    takesChoices: true,
    send: async (connection: Connection, order: Order) => {
      const { sends, answers } = platform()
      sends.push({ connectionId: connection.id, order })
      return (
        answers.shift() ?? { outcome: 'accepted', externalId: `wamid.${order.correlator}`, platformUserPhone: null }
      )
    },
    markRead: async (connection, externalId) => {
      platform().reads.push({ connectionId: connection.id, externalId })
      if (platform().readsFail) throw new Error('The platform does not answer')
    },
  }
}
