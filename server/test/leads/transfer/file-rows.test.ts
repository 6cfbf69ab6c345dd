import assert from 'node:assert/strict'
import { test } from 'node:test'
import { detectDelimiter, type FileRow, readRows } from '../../../src/leads/transfer/file/file-rows.ts'
import { refusedRow } from '../../../src/leads/transfer/import/refused-rows.ts'
import type { ImportChoice } from '../../../src/leads/transfer/import/settings.ts'

test('a first line that tells Excel the delimiter is obeyed, and is no header', async () => {
  for (const [delimiter, bom] of [
    [';', ''],
    [',', '\uFEFF'],
    ['\t', '\uFEFF'],
  ] as const) {
    const bytes = Buffer.from(
      `${bom}sep=${delimiter}\r\nfirstName${delimiter}phone\r\nAna, Lima${delimiter}5511987654321\r\n`,
    )
    assert.equal(detectDelimiter(bytes.toString('latin1')), delimiter)
    const pieces = async function* () {
      yield bytes
    }
    const rows: FileRow[] = []
    for await (const row of readRows(pieces(), { format: 'csv', encoding: 'utf-8', delimiter }, 0)) rows.push(row)
    assert.deepEqual(rows[0]?.cells, ['firstName', 'phone'])
    assert.equal(rows.at(-1)?.end, bytes.length)
  }
})

test('the reason of a refused row stands below its header, whatever the row has too much or too little of', () => {
  const choice = { format: 'csv', columns: ['firstName', 'phone'], delimiter: ',' } as unknown as ImportChoice
  const refused = (cells: string[]) =>
    refusedRow({ cells, end: 0 }, [{ row: 1, field: '', message: 'is refused' }], choice)
  assert.equal(refused(['Ana', '1', 'x', 'y']), '"Ana","1","is refused","x","y"\r\n')
  assert.equal(refused(['Ana']), '"Ana","","is refused"\r\n')
})
