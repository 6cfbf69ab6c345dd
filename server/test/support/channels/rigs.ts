import type { Channel } from '../../../src/channels/connection/connection.ts'
import type { InboundKind } from '../../../src/simulator/inbound.ts'
import { until } from '../until.ts'

// Every channel as the tests of their common behaviour know it: how a number is connected, what its platform lets go wrong,
// and who writes to it.

/** A message as it stands on a customer's phone. */
export interface OnPhone {
  from: 'customer' | 'business' | 'device'
  text: string
  status: string
}

/** A customer with a phone, who chats with one number. Each act resolves when the service has been told all of it. */
export interface Phone {
  /** Digits with country code. */
  phone: string
  writes(text: string): Promise<void>
  /** Sends something else than text. */
  shows(kind: InboundKind, text?: string): Promise<void>
  /** Presses a button, or a row of a list, of the newest message that offers some. */
  chooses(choiceId: string): Promise<void>
  reads(): Promise<void>
  /** Somebody at the business types on the number's own phone. */
  getsFromDevice(text: string): Promise<void>
  /** Oldest first. */
  chat(): Promise<OnPhone[]>
  /** All that the phone shows of them. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape, and fail where one is wrong
  screen(): Promise<any[]>
}

/** A number that a channel connects. */
export interface Line {
  connectionId: string
  customer(name?: string): Promise<Phone>
  /** The platform refuses the next message. */
  refuseNext(): Promise<void>
  /** From now on the service is told everything so many times more, and so many things at once in reverse. */
  tells(travel: { again?: number; reversed?: number }): Promise<void>
  /** Tells what a phone had before it was connected. */
  history(phone: string, text: string): Promise<void>
  /** Tells of a message to a number that is not connected here. */
  strange(): Promise<void>
  /** The platform takes the next message, and says nothing of it to anybody before `speaks`. */
  silenceNext(): Promise<void>
  /** The platform takes the next message, and takes its time to say so. */
  stallNext(): Promise<void>
  /** Resolves when the service has been told what was held back. */
  speaks(): Promise<void>
  /** The platform takes our credential no more. */
  disown(): Promise<void>
  /** It does again, and the connection has been put right as the channel wants it. */
  takeBack(): Promise<void>
}

/** What the suite needs of a channel. */
export interface Rig {
  channel: Channel
  hasTemplates: boolean
  /** It has buttons and lists to choose from. */
  hasChoices: boolean
  /** A member has to confirm the risk of it, anew whenever it was put right. */
  needsAcknowledgement: boolean
  /** How far a message has come that was typed on the number's own phone is told as well. */
  tellsOfEchoes: boolean
  /** A platform that disowns the number closes the line at once; others say so when they are asked. */
  hangsUp: boolean
  /** Connects a new number of the channel through the team's interface. */
  connect(stage: Stage): Promise<Line>
}

/** Where a rig builds. */
export interface Stage {
  /** Calls the simulator; throws unless the answer is a success. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape, and fail where one is wrong
  simulate(method: string, path: string, body?: object): Promise<any>
  /** The team's call below the workspace's connections; throws unless the answer is a success. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  connections(method: 'GET' | 'POST' | 'PATCH', path: string, body?: object): Promise<any>
  simulatorUrl: string
  /** A member confirms the risk of a connection, in person. */
  acknowledge(connectionId: string): Promise<void>
  /** Resolves when nothing is on its way any more between the platform and the service. */
  settled(): Promise<void>
}

const official = {
  hasTemplates: true,
  hasChoices: true,
  needsAcknowledgement: false,
  tellsOfEchoes: false,
  hangsUp: false,
} as const

/** The official platform. */
export const wabaRig: Rig = {
  channel: 'waba',
  ...official,
  connect: async (stage) => {
    const number = await stage.simulate('POST', 'numbers', { name: 'Shop', phone: newPhone() })
    const { numberId, accountId, accessToken, appSecret, verifyToken } = number
    const secrets = { accessToken, appSecret, verifyToken, baseUrl: stage.simulatorUrl }
    const body = { channel: 'waba', name: 'Shop', numberId, accountId, ...secrets }
    const { connection, webhook } = await stage.connections('POST', '', body)
    await stage.simulate('PATCH', `numbers/${numberId}`, { callbackUrl: webhook.url })
    return cloudLine(stage, connection.id, number)
  },
}

/** A partner of the platform, with the official platform's bodies. */
const partnerRig: Rig = {
  channel: 'partner',
  ...official,
  connect: async (stage) => {
    const number = await stage.simulate('POST', 'numbers', { name: 'Shop', phone: newPhone(), isPartners: true })
    const { numberId, partner } = number
    const way = { profile: '360dialog', numberId, apiKey: partner.apiKey, baseUrl: stage.simulatorUrl }
    const { connection } = await stage.connections('POST', '', { channel: 'partner', name: 'Shop', ...way })
    return cloudLine(stage, connection.id, number)
  },
}

/** A phone's linked device: paired by its QR code with a phone of the simulator, and held by this process. */
export const phoneRig: Rig = {
  channel: 'unofficial',
  hasTemplates: false,
  hasChoices: false,
  needsAcknowledgement: true,
  tellsOfEchoes: true,
  hangsUp: true,
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

/** Every channel: each test of their common behaviour runs over each of them. */
export const rigs: readonly Rig[] = [wabaRig, partnerRig, phoneRig]

const lateMs = 60_000
let phones = 0
const newPhone = () => `4930${String(1_000_000 + phones++)}`

/** What is the same wherever a number is connected. */
function commonLine({ simulate, settled }: Stage, connectionId: string, numberId: string) {
  return {
    connectionId,
    customer: (name = 'Ana Lima') => addCustomer({ simulate, settled }, { numberId, name, phone: newPhone() }),
    tells: ({ again = 0, reversed = 1 }) => simulate('PATCH', 'delivery', { duplicates: again, reorder: reversed }),
    speaks: async () => {
      await simulate('PATCH', 'delivery', { paused: false })
      await simulate('POST', 'clock', { advanceMs: lateMs })
      await settled()
    },
  }
}

function cloudLine(stage: Stage, connectionId: string, number: { numberId: string; phone: string }): Line {
  const { simulate, settled } = stage
  const { numberId, phone: ownPhone } = number
  const tell = async (field: string, value: object) => {
    await simulate('POST', 'webhooks', { numberId, field, value: { messaging_product: 'whatsapp', ...value } })
    await settled()
  }
  const metadata = { display_phone_number: ownPhone, phone_number_id: numberId }
  const textOf = (from: string, body: string) => ({
    ...{ from, id: `wamid.${from}`, timestamp: '1700000000', type: 'text', text: { body } },
  })
  return {
    ...commonLine(stage, connectionId, numberId),
    refuseNext: () => simulate('POST', 'faults', { effect: 'refuse', code: 131026 }),
    history: (phone, text) => {
      const message = { ...textOf(phone, text), history_context: { status: 'READ' } }
      const threads = [{ id: phone, messages: [message] }]
      return tell('history', {
        metadata,
        history: [{ metadata: { phase: 0, chunk_order: 1, progress: 100 }, threads }],
      })
    },
    strange: () => {
      const elsewhere = { ...metadata, phone_number_id: '100000000000001' }
      return tell('messages', { metadata: elsewhere, messages: [textOf('442079550000', 'x')] })
    },
    silenceNext: async () => {
      await simulate('PATCH', 'delivery', { paused: true })
      await simulate('POST', 'faults', { effect: 'reset', accepts: true })
    },
    stallNext: () => simulate('POST', 'faults', { effect: 'late', afterMs: lateMs }),
    disown: () => simulate('PATCH', `numbers/${numberId}`, { tokenState: 'expired' }),
    takeBack: async () => {
      await simulate('PATCH', `numbers/${numberId}`, { tokenState: 'valid' })
      await stage.connections('POST', `/${connectionId}/resume`)
    },
  }
}

function phoneLine(stage: Stage, connectionId: string, numberId: string): Line {
  const { simulate, settled } = stage
  const session = async () => (await stage.connections('GET', `/${connectionId}/session`)).session
  const silenceNext = () => simulate('POST', 'faults', { effect: 'late', afterMs: lateMs })
  const tell = async (event: string, data: object) => {
    await simulate('POST', `phones/${numberId}/events`, { event, data })
    await settled()
  }
  const textOf = (key: object, text: string) => ({
    ...{ key: { fromMe: false, ...key }, messageTimestamp: 1_700_000_000, message: { conversation: text } },
  })
  return {
    ...commonLine(stage, connectionId, numberId),
    refuseNext: () => simulate('POST', 'faults', { effect: 'refuse', code: 479 }),
    silenceNext,
    // Its word is the only answer.
    stallNext: silenceNext,
    history: (phone, text) => {
      const messages = [textOf({ remoteJid: `${phone}@s.whatsapp.net`, id: `3AH${phone}` }, text)]
      return tell('messaging-history.set', { messages, contacts: [], chats: [], isLatest: true })
    },
    strange: () => {
      const inGroup = { remoteJid: '120363000000000001@g.us', participant: '442079550000@s.whatsapp.net' }
      return tell('messages.upsert', { type: 'notify', messages: [textOf({ ...inGroup, id: '3ASTRANGE' }, 'x')] })
    },
    disown: async () => {
      const { devices } = await simulate('GET', `phones/${numberId}`)
      for (const { id } of devices) await simulate('DELETE', `phones/${numberId}/devices/${id}`)
      await until(async () => (await session()).state === 'stopped', 'a session that has stopped')
    },
    takeBack: async () => {
      await stage.connections('POST', `/${connectionId}/pair`, { method: 'qr' })
      await until(async () => (await session()).qr !== null, 'a QR code')
      await simulate('POST', `phones/${numberId}/scan`, { qr: (await session()).qr })
      await until(async () => (await session()).state === 'open', 'an open session')
      await settled()
    },
  }
}

/** A customer of the simulator, who chats with this number. */
async function addCustomer(
  { simulate, settled }: Pick<Stage, 'simulate' | 'settled'>,
  fields: { numberId: string; name: string; phone: string },
): Promise<Phone> {
  const { id } = await simulate('POST', 'customers', fields)
  const act = async (what: string, body?: object) => {
    await simulate('POST', `customers/${id}/${what}`, body)
    await settled()
  }
  const screen = async () => (await simulate('GET', `customers/${id}`)).messages
  return {
    phone: fields.phone,
    screen,
    writes: (text) => act('messages', { text }),
    shows: (kind, text = '') => act('messages', { kind, text }),
    chooses: async (choiceId) => {
      const about = (await screen()).findLast(({ offer }: { offer: object | null }) => offer !== null)?.id
      await act('messages', { about, choiceId })
    },
    reads: () => act('read'),
    getsFromDevice: (text) => act('echo', { text }),
    chat: async () => {
      const shown = (await screen()).filter(({ status }: { status: string }) => status !== 'failed')
      return shown.map(({ from, text, status }: OnPhone) => ({ from, text, status }))
    },
  }
}
