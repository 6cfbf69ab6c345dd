import type { Clock } from '../base/clock.ts'
import { type RunStep, runStep } from '../base/run-step.ts'
import type { MediaStore } from './store/store.ts'

export interface SweepDeps {
  store: MediaStore
  /** The system clock, not a test clock: compared with the store's clock. */
  clock: Clock
  /** Returns the names that rows refer to, in any workspace. */
  findReferenced: (names: string[]) => Promise<Set<string>>
  /** Number of files per batch. */
  batchSize?: number
  runStep?: RunStep<'drop drafts' | 'list' | 'look up' | 'remove'>
}

export interface SweepResult {
  removed: number
  /** Cursor for the next call; null when all files have been checked. */
  after: string | null
}

/** Much longer than the time between storing a file and committing its row. */
const minAgeMs = 86_400_000
const defaultBatchSize = 500

/**
 * Checks up to `maxBatches` batches of files and removes those older than a day that no row refers to: left by
 * processes that died before writing the row, or whose removal with their row failed. Can be killed at any time.
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
    // Looked up after listing, so that a row that existed when the file was listed is found.
    const referenced = old.length === 0 ? new Set<string>() : await step('look up', () => findReferenced(old))
    for (const name of old.filter((each) => !referenced.has(each))) {
      await step('remove', () => store.remove(name))
      removed++
    }
    from = files.at(-1)?.name ?? null
    if (files.length < batchSize) return { removed, after: null }
  }
  return { removed, after: from }
}
