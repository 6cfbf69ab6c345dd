import type { Line, Rig, Stage } from './channel-rig.ts'
import { addCustomer } from './simulated-customer.ts'

const official = {
  hasTemplates: true,
  hasChoices: true,
  needsAcknowledgement: false,
  tellsOfEchoes: false,
  hangsUp: false,
} as const

/** The official platform. */
const waba: Rig = {
  channel: 'waba',
  ...official,
  connect: async (stage) => {
    const number = await stage.simulate('POST', 'numbers', newNumber())
    const { numberId, accountId, accessToken, appSecret, verifyToken } = number
    const secrets = { accessToken, appSecret, verifyToken, baseUrl: stage.simulatorUrl }
    const body = { channel: 'waba', name: 'Shop', numberId, accountId, ...secrets }
    const { connection, webhook } = await stage.connections('POST', '', body)
    await stage.simulate('PATCH', `numbers/${numberId}`, { callbackUrl: webhook.url })
    return line(stage, connection.id, number)
  },
}

/** A partner of the platform. */
const partner: Rig = {
  channel: 'partner',
  ...official,
  connect: async (stage) => {
    const number = await stage.simulate('POST', 'numbers', { ...newNumber(), isPartners: true })
    const { numberId, partner } = number
    const way = { profile: '360dialog', numberId, apiKey: partner.apiKey, baseUrl: stage.simulatorUrl }
    const { connection } = await stage.connections('POST', '', { channel: 'partner', name: 'Shop', ...way })
    return line(stage, connection.id, number)
  },
}

/** Channels with the official platform's bodies. */
export const cloudRigs: readonly Rig[] = [waba, partner]

const lateMs = 60_000
let numbers = 0
let people = 0

const newNumber = () => ({ name: 'Shop', phone: `4930${String(1_000_000 + numbers++)}` })

interface Number {
  numberId: string
  phone: string
}

function line(stage: Stage, connectionId: string, number: Number): Line {
  const { simulate, settled } = stage
  const { numberId, phone: ownPhone } = number
  const tell = async (field: string, value: object) => {
    await simulate('POST', 'webhooks', { numberId, field, value })
    await settled()
  }
  const metadata = { display_phone_number: ownPhone, phone_number_id: numberId }
  return {
    connectionId,
    customer: (name = 'Ana Lima') =>
      addCustomer(stage, { numberId, name, phone: `44207955${String(5000 + people++)}` }),
    refuseNext: () => simulate('POST', 'faults', { effect: 'refuse', code: 131026 }),
    tells: ({ again = 0, reversed = 1 }) => simulate('PATCH', 'delivery', { duplicates: again, reorder: reversed }),
    history: (phone, text) => {
      const message = {
        from: phone,
        id: `wamid.H${phone}`,
        timestamp: '1700000000',
        type: 'text',
        text: { body: text },
      }
      const threads = [{ id: phone, messages: [{ ...message, history_context: { status: 'READ' } }] }]
      const history = [{ metadata: { phase: 0, chunk_order: 1, progress: 100 }, threads }]
      return tell('history', { messaging_product: 'whatsapp', metadata, history })
    },
    strange: () => {
      const message = {
        from: '442079550000',
        id: 'wamid.S',
        timestamp: '1700000000',
        type: 'text',
        text: { body: 'x' },
      }
      const elsewhere = { ...metadata, phone_number_id: '100000000000001' }
      return tell('messages', { messaging_product: 'whatsapp', metadata: elsewhere, messages: [message] })
    },
    silenceNext: async () => {
      await simulate('PATCH', 'delivery', { paused: true })
      await simulate('POST', 'faults', { effect: 'reset', accepts: true })
    },
    stallNext: () => simulate('POST', 'faults', { effect: 'late', afterMs: lateMs }),
    speaks: async () => {
      await simulate('PATCH', 'delivery', { paused: false })
      await simulate('POST', 'clock', { advanceMs: lateMs })
      await settled()
    },
    disown: () => simulate('PATCH', `numbers/${numberId}`, { tokenState: 'expired' }),
    takeBack: async () => {
      await simulate('PATCH', `numbers/${numberId}`, { tokenState: 'valid' })
      await stage.connections('POST', `/${connectionId}/resume`)
    },
  }
}
