import type { Clock } from '../base/clock.ts'
import { type RunStep, runStep } from '../base/steps.ts'
import type { MediaStore } from './store/store.ts'

export interface SweepDeps {
  store: MediaStore
  /** That of the machines, never one that is moved: it is compared with the clock of the store. */
  clock: Clock
  /** Which of these names rows have, those of every workspace. */
  findReferenced: (names: string[]) => Promise<Set<string>>
  /** Files that are looked at together. */
  batchSize?: number
  runStep?: RunStep<'drop drafts' | 'list' | 'look up' | 'remove'>
}

export interface SweepResult {
  removed: number
  /** Where to go on; null when all has been looked at. */
  after: string | null
}

/** Far longer than a file may be in the store before the row that names it is committed. */
const minAgeMs = 86_400_000
const defaultBatchSize = 500

/**
 * Looks at so many batches of files, and removes those that no row names and that are older than a day: what a process
 * has left that died before it wrote the row, and what was to be removed with its row. May be killed at any moment.
 */
export async function sweepStore(
  { store, clock, findReferenced, batchSize = defaultBatchSize, runStep: step = runStep }: SweepDeps,
  after: string | null = null,
  maxBatches = 20,
): Promise<SweepResult> {
  const before = new Date(clock.now().getTime() - minAgeMs)
  let removed = 0
  if (after === null) removed += await step('drop drafts', () => store.deletePartialFiles(before))
  let from = after
  for (let batch = 0; batch < maxBatches; batch++) {
    const files = await step('list', () => store.list(from, batchSize))
    const old = files.filter(({ storedAt }) => storedAt < before).map(({ name }) => name)
    // Looked up after the list: a row that was there when the file was listed is found.
    const named = old.length === 0 ? new Set<string>() : await step('look up', () => findReferenced(old))
    for (const name of old.filter((each) => !named.has(each))) {
      await step('remove', () => store.remove(name))
      removed++
    }
    from = files.at(-1)?.name ?? null
    if (files.length < batchSize) return { removed, after: null }
  }
  return { removed, after: from }
}
