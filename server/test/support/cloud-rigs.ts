import type { Line, Phone, Rig, Stage } from './channel-rig.ts'

/** The official platform. */
const waba: Rig = {
  channel: 'waba',
  hasTemplates: true,
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
  hasTemplates: true,
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
    customer: async (name = 'Ana Lima') => {
      const phone = `44207955${String(5000 + people++)}`
      const { id } = await simulate('POST', 'customers', { numberId, name, phone })
      return phoneOf(stage, id, phone)
    },
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
    disown: (isDisowned) => simulate('PATCH', `numbers/${numberId}`, { tokenState: isDisowned ? 'expired' : 'valid' }),
  }
}

function phoneOf({ simulate, settled }: Stage, id: string, phone: string): Phone {
  const act = async (what: string, body?: object) => {
    await simulate('POST', `customers/${id}/${what}`, body)
    await settled()
  }
  return {
    phone,
    writes: (text) => act('messages', { text }),
    shows: (kind, text = '') => act('messages', { kind, text }),
    reads: () => act('read'),
    getsFromDevice: (text) => act('echo', { text }),
    chat: async () => {
      const { messages } = await simulate('GET', `customers/${id}`)
      return messages.map(({ from, text, status }: Record<string, string>) => ({ from, text, status }))
    },
  }
}
