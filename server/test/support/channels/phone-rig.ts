import { until } from '../until.ts'
import type { Line, Rig, Stage } from './channel-rig.ts'
import { addCustomer } from './simulated-customer.ts'

/** A phone's linked device: paired by its QR code with a phone of the simulator, and held by this process. */
export const phoneRig: Rig = {
  channel: 'unofficial',
  hasTemplates: false,
  hasChoices: false,
  needsAcknowledgement: true,
  tellsOfEchoes: true,
  hangsUp: true,
  connect: async (stage) => {
    const number = await stage.simulate('POST', 'numbers', { name: 'Shop', phone: newPhone('4931'), network: 'linked' })
    const body = { channel: 'unofficial', name: 'Shop', baseUrl: stage.simulatorUrl }
    const { connection } = await stage.connections('POST', '', body)
    const line = lineOf(stage, connection.id, number.numberId)
    await line.pair()
    await stage.acknowledge(connection.id)
    return line
  },
}

const lateMs = 60_000
let phones = 0
const newPhone = (start: string) => `${start}${String(1_000_000 + phones++)}`

function lineOf(stage: Stage, connectionId: string, numberId: string): Line & { pair(): Promise<void> } {
  const { simulate, settled } = stage
  const session = async () => (await stage.connections('GET', `/${connectionId}/session`)).session
  const silenceNext = () => simulate('POST', 'faults', { effect: 'late', afterMs: lateMs })
  const tell = async (event: string, data: unknown) => {
    await simulate('POST', `phones/${numberId}/events`, { event, data })
    await settled()
  }
  const isOpen = () => until(async () => (await session()).state === 'open', 'an open session')
  const pair = async () => {
    await stage.connections('POST', `/${connectionId}/pair`, { method: 'qr' })
    await until(async () => (await session()).qr !== null, 'a QR code')
    await simulate('POST', `phones/${numberId}/scan`, { qr: (await session()).qr })
    await isOpen()
    await settled()
  }
  return {
    connectionId,
    pair,
    customer: (name = 'Ana Lima') => addCustomer(stage, { numberId, name, phone: newPhone('4420') }),
    refuseNext: () => simulate('POST', 'faults', { effect: 'refuse', code: 479 }),
    silenceNext,
    // Its word is the only answer.
    stallNext: silenceNext,
    speaks: async () => {
      await simulate('POST', 'clock', { advanceMs: lateMs })
      await settled()
    },
    tells: ({ again = 0, reversed = 1 }) => simulate('PATCH', 'delivery', { duplicates: again, reorder: reversed }),
    history: (phone, text) => {
      const key = { remoteJid: `${phone}@s.whatsapp.net`, fromMe: false, id: `3AH${phone}` }
      const messages = [{ key, messageTimestamp: 1_700_000_000, message: { conversation: text } }]
      return tell('messaging-history.set', { messages, contacts: [], chats: [], isLatest: true })
    },
    strange: async () => {
      const inGroup = { remoteJid: '120363000000000001@g.us', participant: '442079550000@s.whatsapp.net' }
      const key = { ...inGroup, fromMe: false, id: '3ASTRANGE' }
      const messages = [{ key, messageTimestamp: 1_700_000_000, message: { conversation: 'x' } }]
      await tell('messages.upsert', { type: 'notify', messages })
    },
    disown: async () => {
      const { devices } = await simulate('GET', `phones/${numberId}`)
      for (const { id } of devices) await simulate('DELETE', `phones/${numberId}/devices/${id}`)
      await until(async () => (await session()).state === 'stopped', 'a session that has stopped')
    },
    takeBack: pair,
  }
}
