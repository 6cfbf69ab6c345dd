import { indexLeads } from '../../src/leads/search/index-leads.ts'
import type { TestApp } from './world.ts'

/** Makes the search tokens of all that was written, as workers do within a second. */
export async function makeTokens({ db, vault, placer }: Pick<TestApp, 'db' | 'vault' | 'placer'>): Promise<void> {
  await placer.placeAll()
  while ((await indexLeads({ db, vault })) > 0);
}
