import { indexInbox, settledMs } from '../../src/inbox/search/index-inbox.ts'
import { indexLeads } from '../../src/leads/search/index-leads.ts'
import type { TestApp } from './world.ts'

/** Indexes all written data for search, as workers do within a second. */
export async function makeTokens({
  db,
  keyStore,
  sequencer,
}: Pick<TestApp, 'db' | 'keyStore' | 'sequencer'>): Promise<void> {
  await sequencer.sequenceAll()
  while ((await indexLeads({ db, keyStore })) > 0);
}

/** Work that a test started a moment ago and did not finish is not needed any more. */
const slackMs = 10_000

/** Indexes all messages for search, as workers do after an idle time; advances the clock by it. */
export async function makeInboxTokens({
  db,
  keyStore,
  clock,
}: Pick<TestApp, 'db' | 'keyStore' | 'clock'>): Promise<void> {
  clock.advance(settledMs + slackMs)
  while ((await indexInbox({ db, keyStore, clock })) > 0);
}
