import type {
  Connection,
  PartnerConnection,
  SessionConnection,
  WabaConnection,
} from '../../../src/channels/connection/connection.ts'

// Connections as the database returns them, for tests of a channel without a database.

const common = {
  workspaceId: '00000000-0000-7000-8000-000000000001',
  id: '00000000-0000-7000-8000-000000000002',
  name: 'Shop',
  numberId: '106540352242922',
  accountId: null,
  state: 'active',
  stateReason: null,
  stateChangedAt: new Date(0),
  holds: [],
  sendsMarketing: false,
  acknowledgedAt: null,
  isOnPhone: false,
} satisfies Partial<Connection>

export const wabaAt = (baseUrl: string): WabaConnection => ({
  ...{ ...common, channel: 'waba' },
  settings: { baseUrl, version: 'v25.0', accessToken: 'the-token', appSecret: 's', verifyToken: 'v' },
})

export const partnerAt = (baseUrl: string): PartnerConnection => ({
  ...{ ...common, channel: 'partner' },
  settings: { profile: '360dialog', baseUrl, apiKey: 'the-key', webhookToken: 't', signingSecret: null },
})

export const sessionAt = (baseUrl: string | null): SessionConnection => ({
  ...common,
  channel: 'unofficial',
  settings: { baseUrl },
})
