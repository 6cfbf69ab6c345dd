import { goOn } from '../base/erasure.ts'
import { runStep } from '../base/steps.ts'
import { eraseFromSessions } from '../channels/unofficial/erase.ts'
import type { ErasureDeps } from '../erasure/erasure.ts'
import { eraseEvents } from '../events/erase.ts'
import { eraseSubmissions } from '../forms/submit/submissions.ts'
import { eraseConversations } from '../inbox/erase.ts'
import { eraseLeads } from '../leads/erase.ts'
import { eraseImportFiles } from '../leads/transfer/import/pieces.ts'
import { eraseDeliveries } from '../webhooks/erase.ts'
import { eraseFilters } from '../workspace/saved-filters.ts'
import type { Runtime } from './runtime.ts'

/** What every room erases of a customer. Stored rows of what is added here are for `docs/decisions/022-erasure.md`. */
export function erasureDeps({ db, vault, clock }: Pick<Runtime, 'db' | 'vault' | 'clock'>): ErasureDeps {
  return {
    db,
    vault,
    clock,
    step: runStep,
    parts: [
      // First what would bring the customer back.
      eraseImportFiles,
      // Before the leads: a customer who writes meanwhile is a lead still, and no new one is made of them.
      eraseConversations,
      async (tx, { workspaceId, customer }) => {
        const subjects = [...customer.conversationIds, ...customer.mergedIds]
        const { removed, hasMore } = await eraseEvents(tx, workspaceId, subjects, eraseDeliveries)
        return goOn(removed, hasMore)
      },
      eraseSubmissions,
      (tx, scope) => eraseLeads(tx, scope, eraseDeliveries),
      eraseFromSessions,
      eraseFilters,
    ],
  }
}
