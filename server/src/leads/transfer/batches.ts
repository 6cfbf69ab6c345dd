import type { ApiError } from '../../base/errors.ts'
import type { UpsertItem } from '../upsert-plan.ts'
import type { FileRow } from './file-rows.ts'
import { type RowContext, readRow } from './read-row.ts'

/** Rows that are written together, and what each of them asks for. */
export interface Batch {
  rows: FileRow[]
  items: (UpsertItem | ApiError)[]
}

const maxRows = 500
const maxBytes = 1024 * 1024

/** The rows in batches; while one is written, the next one is read. */
export function readBatches(
  rows: AsyncIterable<FileRow>,
  start: number,
  context: () => RowContext,
): AsyncGenerator<Batch> {
  return oneAhead(batchesOf(rows, start, context))
}

async function* oneAhead<T>(source: AsyncGenerator<T>): AsyncGenerator<T> {
  let coming = source.next()
  try {
    for (;;) {
      const { done, value } = await coming
      if (done) return
      coming = source.next()
      // Its failure is told when its turn comes, or to nobody when the work was stopped before.
      coming.catch(() => {})
      yield value
    }
  } finally {
    await source.return(undefined)
  }
}

async function* batchesOf(
  rows: AsyncIterable<FileRow>,
  start: number,
  context: () => RowContext,
): AsyncGenerator<Batch> {
  const read = (batch: FileRow[]): Batch => {
    const reading = context()
    return { rows: batch, items: batch.map((row) => readRow(row, reading)) }
  }
  let batch: FileRow[] = []
  let from = start
  for await (const row of rows) {
    batch.push(row)
    if (batch.length < maxRows && row.end - from < maxBytes) continue
    yield read(batch)
    batch = []
    from = row.end
  }
  if (batch.length > 0) yield read(batch)
}
