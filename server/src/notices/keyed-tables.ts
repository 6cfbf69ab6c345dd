import type { SealedTable } from '../base/sealing/keyed-table.ts'
import { privateKeyPlace } from './push/keys.ts'
import { targetPlace } from './push/subscriptions.ts'

export const sealedNoticeTables: readonly SealedTable[] = [
  {
    table: 'push_subscriptions',
    keysOf: 'workspace',
    key: ['id'],
    places: { content: ({ id }) => targetPlace(id) },
  },
  { table: 'push_keys', keysOf: 'instance', key: ['id'], places: { private_key: ({ id }) => privateKeyPlace(id) } },
]
