import { indexInbox, settledMs } from '../../src/inbox/search/index-inbox.ts'
import { indexLeads } from '../../src/leads/search/index-leads.ts'
import type { TestApp } from './world.ts'

/** Makes the search tokens of all that was written, as workers do within a second. */
export async function makeTokens({ db, vault, sequencer }: Pick<TestApp, 'db' | 'vault' | 'sequencer'>): Promise<void> {
  await sequencer.placeAll()
  while ((await indexLeads({ db, vault })) > 0);
}

/** Of what a test began a moment ago and has not ended nobody needs more. */
const slackMs = 10_000

/** Makes the search tokens of all that was said, as workers do when it has settled: so much time has passed then. */
export async function makeInboxTokens({ db, vault, clock }: Pick<TestApp, 'db' | 'vault' | 'clock'>): Promise<void> {
  clock.advance(settledMs + slackMs)
  while ((await indexInbox({ db, vault, clock })) > 0);
}
