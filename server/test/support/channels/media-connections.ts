import { createCipheriv, createHmac, hkdfSync } from 'node:crypto'
import type {
  Connection,
  PartnerConnection,
  SessionConnection,
  WabaConnection,
} from '../../../src/channels/connection/connection.ts'

const common = {
  workspaceId: '00000000-0000-7000-8000-000000000001',
  id: '00000000-0000-7000-8000-000000000002',
  name: 'Shop',
  numberId: '106540352242922',
  accountId: null,
  state: 'active',
  stateReason: null,
  acknowledgedAt: null,
  isOnPhone: false,
} satisfies Partial<Connection>

export const wabaAt = (baseUrl: string): WabaConnection => ({
  ...common,
  channel: 'waba',
  settings: { baseUrl, version: 'v25.0', accessToken: 'the-token', appSecret: 's', verifyToken: 'v' },
})

export const partnerAt = (baseUrl: string): PartnerConnection => ({
  ...common,
  channel: 'partner',
  settings: { profile: '360dialog', baseUrl, apiKey: 'the-key', webhookToken: 't', signingSecret: null },
})

export const sessionAt = (baseUrl: string | null): SessionConnection => ({
  ...common,
  channel: 'unofficial',
  settings: { baseUrl },
})

/** A file as the network of linked devices keeps it. */
export function encryptForDevice(file: Buffer, mediaKey: Buffer, purpose: string): Buffer {
  const keys = Buffer.from(hkdfSync('sha256', mediaKey, '', `WhatsApp ${purpose} Keys`, 112))
  const [iv, key, mac] = [keys.subarray(0, 16), keys.subarray(16, 48), keys.subarray(48, 80)]
  const cipher = createCipheriv('aes-256-cbc', key, iv)
  const sealed = Buffer.concat([cipher.update(file), cipher.final()])
  const digest = createHmac('sha256', mac).update(iv).update(sealed).digest().subarray(0, 10)
  return Buffer.concat([sealed, digest])
}
