import { indexLeads } from '../../src/leads/search/index-leads.ts'
import type { TestApp } from './world.ts'

/** Makes the search tokens of all that was written, as workers do within a second. */
export async function makeTokens({ db, vault, sequencer }: Pick<TestApp, 'db' | 'vault' | 'sequencer'>): Promise<void> {
  await sequencer.placeAll()
  while ((await indexLeads({ db, vault })) > 0);
}
