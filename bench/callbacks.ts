import { createHmac } from 'node:crypto'
import { appSecret, type SeededConnection } from './inbox-seed.ts'
import { rawRequestBytes } from './load.ts'

/** Returns a callback of the official platform for a number. */
export function callbackOf({ numberId }: Pick<SeededConnection, 'numberId'>, told: object): object {
  const metadata = { display_phone_number: '4930123456', phone_number_id: numberId }
  const value = { messaging_product: 'whatsapp', metadata, ...told }
  return { object: 'whatsapp_business_account', entry: [{ id: '1', changes: [{ field: 'messages', value }] }] }
}

/** Returns new text messages of customers. */
export function textsOf(written: readonly { from: string; id: string; body: string }[]): object {
  const timestamp = String(Math.floor(Date.now() / 1000))
  return {
    contacts: written.map(({ from }) => ({ profile: { name: 'Ana' }, wa_id: from })),
    messages: written.map(({ from, id, body }) => ({ from, id, timestamp, type: 'text', text: { body } })),
  }
}

/** Returns the request of a callback, signed as the platform does. */
export function signedCallback(path: string, callback: object): Buffer {
  const payload = JSON.stringify(callback)
  const signature = `sha256=${createHmac('sha256', appSecret).update(payload).digest('hex')}`
  return rawRequestBytes('POST', path, { 'x-hub-signature-256': signature }, payload)
}

export const webhookPath = ({ id }: Pick<SeededConnection, 'id'>): string => `/channels/waba/${id}/webhook`
