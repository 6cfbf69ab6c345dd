import assert from 'node:assert/strict'
import { test } from 'node:test'
import { detectDelimiter, readRows } from '../../../src/leads/transfer/file/file-rows.ts'

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
    const rows = await Array.fromAsync(readRows(pieces(), { format: 'csv', encoding: 'utf-8', delimiter }, 0))
    assert.deepEqual(rows[0]?.cells, ['firstName', 'phone'])
    assert.equal(rows.at(-1)?.end, bytes.length)
  }
})
