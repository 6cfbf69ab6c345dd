import type { Clock } from '../../base/clock.ts'
import type { Db } from '../../base/db.ts'
import type { Vault } from '../../base/sealing/vault.ts'
import type { PresentPayload } from '../../events/feed.ts'
import type { Sequencer } from '../../events/sequence.ts'

/** What the team's verbs in this room act on. */
export interface WebhookDeps {
  db: Db
  vault: Vault
  clock: Clock
  sequencer: Sequencer
  /** Why an address may not be called; null when it may. */
  outgoing: { refusal(url: string): string | null }
  present: PresentPayload
}
