import { indexedAccessTables, sealedAccessTables } from '../access/keyed-tables.ts'
import type { KeyedTables } from '../base/sealing/keyed-table.ts'
import { sealedChannelTables } from '../channels/keyed-tables.ts'
import { sealedErasureTables } from '../erasure/keyed-tables.ts'
import { sealedEventTables } from '../events/keyed-tables.ts'
import { sealedFormTables } from '../forms/keyed-tables.ts'
import { indexedInboxTables, sealedInboxTables } from '../inbox/keyed-tables.ts'
import { indexedLeadTables, sealedLeadTables } from '../leads/keyed-tables.ts'
import { sealedNoticeTables } from '../notices/keyed-tables.ts'
import { sealedWebhookTables } from '../webhooks/keyed-tables.ts'
import { sealedWorkspaceTables } from '../workspace/keyed-tables.ts'

/** Every table that is written under keys; a test finds the one that is missing. */
export const keyedTables: KeyedTables = {
  sealed: [
    ...sealedLeadTables,
    ...sealedInboxTables,
    ...sealedChannelTables,
    ...sealedEventTables,
    ...sealedFormTables,
    ...sealedAccessTables,
    ...sealedWebhookTables,
    ...sealedWorkspaceTables,
    ...sealedErasureTables,
    ...sealedNoticeTables,
  ],
  indexed: [...indexedLeadTables, ...indexedInboxTables, ...indexedAccessTables],
}
