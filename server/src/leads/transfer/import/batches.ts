import type { ApiError } from '../../../base/errors.ts'
import type { PrefetchedPlan } from '../../write/prefetched-plan.ts'
import type { UpsertItem } from '../../write/upsert-plan.ts'
import type { FileRow } from '../file/file-rows.ts'
import { type RowContext, readRow } from './read-row.ts'

/** Rows that are written together, and what each of them asks for. */
export interface Batch {
  rows: FileRow[]
  items: (UpsertItem | ApiError)[]
  /** Null when it is not expected to come true. */
  prefetched: PrefetchedPlan | null
}

export interface BatchInTurn extends Batch {
  /** Begins to make the next one, for whoever has the time. */
  makeNext(): void
}

type Foresee = (items: Batch['items']) => Promise<PrefetchedPlan | null>

const maxRows = 500
const maxBytes = 1024 * 1024

/** The rows in batches, each made when the one before it says so, or when it is asked for. */
export async function* readBatches(
  rows: AsyncIterable<FileRow>,
  start: number,
  context: () => RowContext,
  foresee: Foresee,
): AsyncGenerator<BatchInTurn> {
  const source = batchesOf(rows, start, context, foresee)
  let coming: Promise<IteratorResult<Batch>> | null = null
  const next = () => {
    coming ??= source.next()
    // Its failure is told when its turn comes, or to nobody when the work was stopped before.
    coming.catch(() => {})
    return coming
  }
  try {
    for (;;) {
      const { done, value } = await next()
      coming = null
      if (done) return
      yield { ...value, makeNext: () => void next() }
    }
  } finally {
    await source.return(undefined)
  }
}

async function* batchesOf(
  rows: AsyncIterable<FileRow>,
  start: number,
  context: () => RowContext,
  foresee: Foresee,
): AsyncGenerator<Batch> {
  const read = async (batch: FileRow[]): Promise<Batch> => {
    const reading = context()
    const items = batch.map((row) => readRow(row, reading))
    return { rows: batch, items, prefetched: await foresee(items) }
  }
  let batch: FileRow[] = []
  let from = start
  for await (const row of rows) {
    batch.push(row)
    if (batch.length < maxRows && row.end - from < maxBytes) continue
    yield await read(batch)
    batch = []
    from = row.end
  }
  if (batch.length > 0) yield await read(batch)
}
