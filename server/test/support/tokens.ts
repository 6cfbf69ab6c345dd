import { indexInbox, settledMs } from '../../src/inbox/search/index-inbox.ts'
import { indexLeads } from '../../src/leads/search/index-leads.ts'
import type { TestApp } from './world.ts'

/** Makes the search tokens of all that was written, as workers do within a second. */
export async function makeTokens({
  db,
  keyStore,
  sequencer,
}: Pick<TestApp, 'db' | 'keyStore' | 'sequencer'>): Promise<void> {
  await sequencer.sequenceAll()
  while ((await indexLeads({ db, keyStore })) > 0);
}

/** Of what a test began a moment ago and has not ended nobody needs more. */
const slackMs = 10_000

/** Makes the search tokens of all that was said, as workers do when it has settled: so much time has passed then. */
export async function makeInboxTokens({
  db,
  keyStore,
  clock,
}: Pick<TestApp, 'db' | 'keyStore' | 'clock'>): Promise<void> {
  clock.advance(settledMs + slackMs)
  while ((await indexInbox({ db, keyStore, clock })) > 0);
}
