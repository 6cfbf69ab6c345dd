import type { SealedTable } from '../base/sealing/keyed-table.ts'
import { settingsPlace } from './sealed.ts'
import { keyPlace } from './unofficial/sealed-auth-store.ts'
import { contentPlace } from './unofficial/sends.ts'
import { pairingPlace } from './unofficial/session.ts'

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
