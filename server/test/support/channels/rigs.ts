import type { InboundKind } from '../../../../simulator/src/inbound.ts'
import type { Answer } from '../world.ts'

// One rig per channel for the tests of common behavior: connects a number, injects faults, and simulates customers.

/** Tests read answers of every shape, and fail where one is wrong. */
export type Loose = Answer['body']

/** Environment of a rig; its functions throw unless the answer is a success. */
export interface Stage {
  simulate(method: string, path: string, body?: object): Promise<Loose>
  /** Calls the team API below the workspace's connections. */
  connections(method: 'GET' | 'POST' | 'PATCH', path: string, body?: object): Promise<Loose>
  simulatorUrl: string
  /** Confirms the risk of a connection as a member. */
  acknowledge(connectionId: string): Promise<void>
  /** Resolves when nothing is pending between the platform and the service. */
  settled(): Promise<void>
  whenSession(connectionId: string, isSo: (session: Loose) => boolean): Promise<void>
}

/** The official platform. */
export const wabaRig = {
  channel: 'waba',
  /**
   * True for channels with templates and interactive options, whose platform can be queried for missing statuses. A
   * session instead has a risk that a member must confirm again.
   */
  isOfficial: true,
  connect: async (stage: Stage) => {
    const number = await stage.simulate('POST', 'numbers', { name: 'Shop', phone: newPhone() })
    const { numberId, accountId, accessToken, appSecret, verifyToken } = number
    const secrets = { accessToken, appSecret, verifyToken, baseUrl: stage.simulatorUrl }
    const body = { channel: 'waba', name: 'Shop', numberId, accountId, ...secrets }
    const { connection, webhook } = await stage.connections('POST', '', body)
    await stage.simulate('PATCH', `numbers/${numberId}`, { callbackUrl: webhook.url })
    return platformNumber(stage, connection.id, numberId)
  },
}

/** Partner of the platform, with the official platform's request bodies. */
const partnerRig: Rig = {
  channel: 'partner',
  isOfficial: true,
  connect: async (stage) => {
    const number = await stage.simulate('POST', 'numbers', { name: 'Shop', phone: newPhone(), isPartners: true })
    const { numberId, partner } = number
    const way = { profile: '360dialog', numberId, apiKey: partner.apiKey, baseUrl: stage.simulatorUrl }
    const { connection } = await stage.connections('POST', '', { channel: 'partner', name: 'Shop', ...way })
    return platformNumber(stage, connection.id, numberId)
  },
}

/** Linked device of a phone: paired by QR code with a phone of the simulator; its session runs in this process. */
export const phoneRig: Rig = {
  channel: 'unofficial',
  isOfficial: false,
  connect: async (stage) => {
    const number = await stage.simulate('POST', 'numbers', { name: 'Shop', phone: newPhone(), network: 'linked' })
    const body = { channel: 'unofficial', name: 'Shop', baseUrl: stage.simulatorUrl }
    const { connection } = await stage.connections('POST', '', body)
    const connected = linkedNumber(stage, connection.id, number.numberId)
    await connected.restoreCredentials()
    await stage.acknowledge(connection.id)
    return connected
  },
}

export type Rig = typeof wabaRig
/** Number connected through a channel. */
type ConnectedNumber = Awaited<ReturnType<Rig['connect']>>
/** Customer with a phone, in a chat with one number. Each action resolves when the service has received its events. */
export type Phone = Awaited<ReturnType<ConnectedNumber['customer']>>

/** All channels: each test of common behavior runs on each of them. */
export const rigs: readonly Rig[] = [wabaRig, partnerRig, phoneRig]

const lateMs = 60_000
let phones = 0
const newPhone = () => `4930${String(1_000_000 + phones++)}`

/** Functions that are the same for all channels. */
function commonActions({ simulate, settled }: Stage, connectionId: string, numberId: string) {
  return {
    connectionId,
    customer: async (name = 'Ana Lima') => {
      const phone = newPhone()
      const { id } = await simulate('POST', 'customers', { numberId, name, phone })
      return customerWith(simulate, settled, id, phone)
    },
    /** Duplicates all further events for the service, and reverses groups of them. */
    setDuplication: ({ again = 0, reversed = 1 }) =>
      simulate('PATCH', 'delivery', { duplicates: again, reorder: reversed }),
    /** Delivers the suppressed events; resolves when the service has received them. */
    resumeEvents: async () => {
      await simulate('PATCH', 'delivery', { paused: false })
      await simulate('POST', 'clock', { advanceMs: lateMs })
      await settled()
    },
  }
}

function customerWith(simulate: Stage['simulate'], settled: Stage['settled'], id: string, phone: string) {
  const act = async (what: string, body?: object) => {
    await simulate('POST', `customers/${id}/${what}`, body)
    await settled()
  }
  /** All messages on the phone, oldest first. */
  const screen = async (): Promise<Loose[]> => (await simulate('GET', `customers/${id}`)).messages
  return {
    phone,
    screen,
    writes: (text: string) => act('messages', { text }),
    shows: (kind: InboundKind, text = '') => act('messages', { kind, text }),
    /** Presses a button or chooses a list row of the newest message with options. */
    chooses: async (choiceId: string) => {
      const about = (await screen()).findLast(({ offer }) => offer !== null)?.id
      await act('messages', { about, choiceId })
    },
    reads: () => act('read'),
    /** Sends a message as a person at the business on the number's own phone. */
    receivesFromDevice: (text: string) => act('echo', { text }),
    chat: async () => {
      const shown = (await screen()).filter(({ status }) => status !== 'failed')
      return shown.map(({ from, text, status }) => ({ from, text, status }))
    },
  }
}

function platformNumber(stage: Stage, connectionId: string, numberId: string) {
  const { simulate } = stage
  return {
    ...commonActions(stage, connectionId, numberId),
    /** Makes the platform refuse the next message. */
    refuseNext: () => simulate('POST', 'faults', { effect: 'refuse', code: 131026 }),
    /** Makes the platform accept the next message without any answer or event until `speaks`. */
    silenceNext: async () => {
      await simulate('PATCH', 'delivery', { paused: true })
      await simulate('POST', 'faults', { effect: 'reset', accepts: true })
    },
    /** Makes the platform accept the next message but answer late. */
    stallNext: () => simulate('POST', 'faults', { effect: 'late', afterMs: lateMs }),
    /** Makes the platform reject our credentials. */
    rejectCredentials: async () => {
      await simulate('PATCH', `numbers/${numberId}`, { tokenState: 'expired' })
    },
    /** Makes the platform accept our credentials again, and repairs the connection as its channel requires. */
    restoreCredentials: async () => {
      await simulate('PATCH', `numbers/${numberId}`, { tokenState: 'valid' })
      await stage.connections('POST', `/${connectionId}/resume`)
    },
  }
}

function linkedNumber(stage: Stage, connectionId: string, numberId: string): ConnectedNumber {
  const { simulate, settled, whenSession } = stage
  const stallNext = () => simulate('POST', 'faults', { effect: 'late', afterMs: lateMs })
  return {
    ...commonActions(stage, connectionId, numberId),
    refuseNext: () => simulate('POST', 'faults', { effect: 'refuse', code: 479 }),
    // A status event is the only answer of this network.
    silenceNext: stallNext,
    stallNext,
    rejectCredentials: async () => {
      const { devices } = await simulate('GET', `phones/${numberId}`)
      for (const { id } of devices) await simulate('DELETE', `phones/${numberId}/devices/${id}`)
      await whenSession(connectionId, ({ state }) => state === 'stopped')
    },
    restoreCredentials: async () => {
      await stage.connections('POST', `/${connectionId}/pair`, { method: 'qr' })
      let code = null
      await whenSession(connectionId, ({ qr }) => {
        code = qr
        return qr !== null
      })
      await simulate('POST', `phones/${numberId}/scan`, { qr: code })
      await whenSession(connectionId, ({ state }) => state === 'open')
      await settled()
    },
  }
}
