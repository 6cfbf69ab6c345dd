import type { InboundKind } from '../../../../simulator/src/inbound.ts'
import type { Answer } from '../world.ts'

// Every channel as the tests of their common behaviour know it: how a number is connected, what its platform lets go wrong,
// and who writes to it.

/** Tests look into answers of every shape, and fail where one is wrong. */
export type Loose = Answer['body']

/** Where a rig builds; what it calls throws unless the answer is a success. */
export interface Stage {
  simulate(method: string, path: string, body?: object): Promise<Loose>
  /** The team's call below the workspace's connections. */
  connections(method: 'GET' | 'POST' | 'PATCH', path: string, body?: object): Promise<Loose>
  simulatorUrl: string
  /** A member confirms the risk of a connection, in person. */
  acknowledge(connectionId: string): Promise<void>
  /** Resolves when nothing is on its way any more between the platform and the service. */
  settled(): Promise<void>
  whenSession(connectionId: string, isSo: (session: Loose) => boolean): Promise<void>
}

/** The official platform. */
export const wabaRig = {
  channel: 'waba',
  /** It has templates and choices, and is asked for what it would not tell. A session has a risk that a member confirms anew. */
  isOfficial: true,
  connect: async (stage: Stage) => {
    const number = await stage.simulate('POST', 'numbers', { name: 'Shop', phone: newPhone() })
    const { numberId, accountId, accessToken, appSecret, verifyToken } = number
    const secrets = { accessToken, appSecret, verifyToken, baseUrl: stage.simulatorUrl }
    const body = { channel: 'waba', name: 'Shop', numberId, accountId, ...secrets }
    const { connection, webhook } = await stage.connections('POST', '', body)
    await stage.simulate('PATCH', `numbers/${numberId}`, { callbackUrl: webhook.url })
    return cloudLine(stage, connection.id, numberId)
  },
}

/** A partner of the platform, with the official platform's bodies. */
const partnerRig: Rig = {
  channel: 'partner',
  isOfficial: true,
  connect: async (stage) => {
    const number = await stage.simulate('POST', 'numbers', { name: 'Shop', phone: newPhone(), isPartners: true })
    const { numberId, partner } = number
    const way = { profile: '360dialog', numberId, apiKey: partner.apiKey, baseUrl: stage.simulatorUrl }
    const { connection } = await stage.connections('POST', '', { channel: 'partner', name: 'Shop', ...way })
    return cloudLine(stage, connection.id, numberId)
  },
}

/** A phone's linked device: paired by its QR code with a phone of the simulator, and held by this process. */
export const phoneRig: Rig = {
  channel: 'unofficial',
  isOfficial: false,
  connect: async (stage) => {
    const number = await stage.simulate('POST', 'numbers', { name: 'Shop', phone: newPhone(), network: 'linked' })
    const body = { channel: 'unofficial', name: 'Shop', baseUrl: stage.simulatorUrl }
    const { connection } = await stage.connections('POST', '', body)
    const line = phoneLine(stage, connection.id, number.numberId)
    await line.takeBack()
    await stage.acknowledge(connection.id)
    return line
  },
}

export type Rig = typeof wabaRig
/** A number that a channel connects. */
type Line = Awaited<ReturnType<Rig['connect']>>
/** A customer with a phone, who chats with one number. Each act resolves when the service has been told all of it. */
export type Phone = Awaited<ReturnType<Line['customer']>>

/** Every channel: each test of their common behaviour runs over each of them. */
export const rigs: readonly Rig[] = [wabaRig, partnerRig, phoneRig]

const lateMs = 60_000
let phones = 0
const newPhone = () => `4930${String(1_000_000 + phones++)}`

/** What is the same wherever a number is connected. */
function commonLine({ simulate, settled }: Stage, connectionId: string, numberId: string) {
  return {
    connectionId,
    customer: async (name = 'Ana Lima') => {
      const phone = newPhone()
      const { id } = await simulate('POST', 'customers', { numberId, name, phone })
      return customerWith(simulate, settled, id, phone)
    },
    /** From now on the service is told everything so many times more, and so many things at once in reverse. */
    tells: ({ again = 0, reversed = 1 }) => simulate('PATCH', 'delivery', { duplicates: again, reorder: reversed }),
    /** Resolves when the service has been told what was held back. */
    speaks: async () => {
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
  /** All that the phone shows, oldest first. */
  const screen = async (): Promise<Loose[]> => (await simulate('GET', `customers/${id}`)).messages
  return {
    phone,
    screen,
    writes: (text: string) => act('messages', { text }),
    shows: (kind: InboundKind, text = '') => act('messages', { kind, text }),
    /** Presses a button, or a row of a list, of the newest message that offers some. */
    chooses: async (choiceId: string) => {
      const about = (await screen()).findLast(({ offer }) => offer !== null)?.id
      await act('messages', { about, choiceId })
    },
    reads: () => act('read'),
    /** Somebody at the business types on the number's own phone. */
    getsFromDevice: (text: string) => act('echo', { text }),
    chat: async () => {
      const shown = (await screen()).filter(({ status }) => status !== 'failed')
      return shown.map(({ from, text, status }) => ({ from, text, status }))
    },
  }
}

function cloudLine(stage: Stage, connectionId: string, numberId: string) {
  const { simulate } = stage
  return {
    ...commonLine(stage, connectionId, numberId),
    /** The platform refuses the next message. */
    refuseNext: () => simulate('POST', 'faults', { effect: 'refuse', code: 131026 }),
    /** The platform takes the next message, and says nothing of it to anybody before `speaks`. */
    silenceNext: async () => {
      await simulate('PATCH', 'delivery', { paused: true })
      await simulate('POST', 'faults', { effect: 'reset', accepts: true })
    },
    /** The platform takes the next message, and takes its time to say so. */
    stallNext: () => simulate('POST', 'faults', { effect: 'late', afterMs: lateMs }),
    /** The platform takes our credential no more. */
    disown: async () => {
      await simulate('PATCH', `numbers/${numberId}`, { tokenState: 'expired' })
    },
    /** It does again, and the connection has been put right as the channel wants it. */
    takeBack: async () => {
      await simulate('PATCH', `numbers/${numberId}`, { tokenState: 'valid' })
      await stage.connections('POST', `/${connectionId}/resume`)
    },
  }
}

function phoneLine(stage: Stage, connectionId: string, numberId: string): Line {
  const { simulate, settled, whenSession } = stage
  const stallNext = () => simulate('POST', 'faults', { effect: 'late', afterMs: lateMs })
  return {
    ...commonLine(stage, connectionId, numberId),
    refuseNext: () => simulate('POST', 'faults', { effect: 'refuse', code: 479 }),
    // Its word is the only answer.
    silenceNext: stallNext,
    stallNext,
    disown: async () => {
      const { devices } = await simulate('GET', `phones/${numberId}`)
      for (const { id } of devices) await simulate('DELETE', `phones/${numberId}/devices/${id}`)
      await whenSession(connectionId, ({ state }) => state === 'stopped')
    },
    takeBack: async () => {
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
