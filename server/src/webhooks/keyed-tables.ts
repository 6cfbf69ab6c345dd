import type { SealedTable } from '../base/sealing/keyed-table.ts'
import { answerPlace } from './deliver/bodies.ts'
import { settingsPlace } from './endpoint/endpoint.ts'

export const sealedWebhookTables: readonly SealedTable[] = [
  { table: 'webhook_endpoints', keysOf: 'workspace', key: ['id'], places: { settings: ({ id }) => settingsPlace(id) } },
  {
    table: 'webhook_deliveries',
    keysOf: 'workspace',
    key: ['endpoint_id', 'position'],
    reads: ['attempts'],
    places: {
      delivered_answer: ({ endpoint_id: endpointId, position, attempts }) =>
        answerPlace({ endpointId, position, number: attempts }),
    },
  },
  {
    table: 'webhook_attempts',
    keysOf: 'workspace',
    key: ['endpoint_id', 'position', 'number'],
    places: {
      answer: ({ endpoint_id: endpointId, position, number }) => answerPlace({ endpointId, position, number }),
    },
  },
]
