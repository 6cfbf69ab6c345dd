import type { SealedTable } from '../base/sealing/keyed-table.ts'
import { settingsPlace } from './connection/sealed.ts'
import { contentPlace } from './unofficial/send/sends.ts'
import { pairingPlace } from './unofficial/session/session.ts'
import { keyPlace } from './unofficial/transport/sealed-auth-store.ts'

export const sealedChannelTables: readonly SealedTable[] = [
  { table: 'connections', keysOf: 'workspace', key: ['id'], places: { settings: ({ id }) => settingsPlace(id) } },
  {
    table: 'channel_sessions',
    keysOf: 'workspace',
    key: ['connection_id'],
    places: { pairing: ({ connection_id }) => pairingPlace(connection_id) },
  },
  {
    table: 'session_keys',
    keysOf: 'workspace',
    key: ['connection_id', 'type', 'digest'],
    places: { value: ({ connection_id, type, digest }) => keyPlace({ connection_id, type, digest }) },
  },
  {
    table: 'session_sends',
    keysOf: 'workspace',
    key: ['connection_id', 'id'],
    places: { content: ({ connection_id, id }) => contentPlace(connection_id, id) },
  },
]
