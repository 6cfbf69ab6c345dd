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

export async function* readBatches(
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
