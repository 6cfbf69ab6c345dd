import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  detectDelimiter,
  detectEncoding,
  type Encoding,
  type FileFormat,
  type FileRow,
  readRows,
} from '../../../src/leads/transfer/file/file-rows.ts'
import { formatRefusedRow, type ImportChoice } from '../../../src/leads/transfer/import/settings.ts'

test('a first line that tells Excel the delimiter is used and is not a header', async () => {
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

test('the reason of a rejected row is in its own column, even if the row has too many or too few cells', () => {
  const choice = { format: 'csv', columns: ['firstName', 'phone'], delimiter: ',' } as unknown as ImportChoice
  const refused = (cells: string[]) =>
    formatRefusedRow({ cells, end: 0 }, [{ row: 1, field: '', message: 'is refused' }], choice)
  assert.equal(refused(['Ana', '1', 'x', 'y']), '"Ana","1","is refused","x","y"\r\n')
  assert.equal(refused(['Ana']), '"Ana","","is refused"\r\n')
})

const utf16 = (text: string, encoding: Encoding): Buffer => {
  const bytes = Buffer.from(text, 'utf16le')
  return encoding === 'utf-16be' ? bytes.swap16() : bytes
}

/** Splits into pieces of a few bytes, so that some end within a character. */
async function* piecesOf(bytes: Buffer, length = 7) {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length)
}

async function rowsOf(bytes: Buffer, format: FileFormat, start = 0): Promise<FileRow[]> {
  const rows: FileRow[] = []
  for await (const row of readRows(piecesOf(bytes.subarray(start)), format, start)) rows.push(row)
  return rows
}

const table = [
  ['firstName', 'phone'],
  ['João "Jô", 😀', '5511987654321'],
  ['Ⱡ张三\nஅ', '1'],
  ['Zoë', ''],
]
const csv = `${table.map((row) => row.map((cell) => `"${cell.replaceAll('"', '""')}"`).join('\t')).join('\r\n')}\r\n`

for (const encoding of ['utf-16le', 'utf-16be'] as const) {
  for (const bom of ['\uFEFF', '']) {
    test(`a ${encoding} file ${bom === '' ? 'without' : 'with'} a byte order mark is detected, read, and resumed from any row`, async () => {
      const bytes = utf16(bom + csv, encoding)
      assert.equal(detectEncoding(bytes), encoding)
      const format = { format: 'csv', encoding, delimiter: '\t' } as const
      const rows = await rowsOf(bytes, format)
      assert.deepEqual(
        rows.map(({ cells }) => cells),
        table,
      )
      assert.equal(rows.at(-1)?.end, bytes.length)
      for (const [at, { end }] of rows.entries()) {
        const rest = await rowsOf(bytes, format, end)
        assert.deepEqual(rest, rows.slice(at + 1))
      }

      const lines = utf16(`${bom}{"firstName":"Ⱡ😀"}\n\n{"firstName":"Bia"}`, encoding)
      const read = await rowsOf(lines, { format: 'ndjson', encoding, delimiter: ',' })
      assert.deepEqual(
        read.map(({ cells }) => cells[0]),
        ['{"firstName":"Ⱡ😀"}', '{"firstName":"Bia"}'],
      )
      assert.equal(read.at(-1)?.end, lines.length)
    })
  }
}

test('other files are not detected as UTF-16, and invalid UTF-16 is rejected with the encoding to choose', async () => {
  for (const text of ['', 'a', 'name,phone\nJoão,1\n', '张三', `name\n${'a'.repeat(99)}\0\0`])
    assert.equal(detectEncoding(Buffer.from(text)), 'utf-8', text)
  const csvIn = (encoding: Encoding) => ({ format: 'csv', encoding, delimiter: '\t' }) as const
  const wide = (encoding: Encoding, bom = '\uFEFF') => utf16(bom + csv, encoding)
  await assert.rejects(rowsOf(wide('utf-16be'), csvIn('utf-8')), /Choose the encoding utf-16be/)
  await assert.rejects(rowsOf(wide('utf-16be'), csvIn('utf-16le')), /other byte order/)
  await assert.rejects(rowsOf(wide('utf-16le').subarray(0, -1), csvIn('utf-16le')), /not valid UTF-16/)
  await assert.rejects(rowsOf(utf16('a\uD800b', 'utf-16le'), csvIn('utf-16le')), /not valid UTF-16/)
})

test('only a few pieces of a UTF-16 file are in memory, whatever its size', async () => {
  const line = utf16(`${'x'.repeat(1000)},1\n`, 'utf-16le')
  let [given, mostAhead] = [0, 0]
  async function* pieces() {
    for (let at = 0; at < 20_000; at++) {
      given += line.length
      yield line
    }
  }
  for await (const { end } of readRows(pieces(), { format: 'csv', encoding: 'utf-16le', delimiter: ',' }, 0))
    mostAhead = Math.max(mostAhead, given - end)
  assert.ok(mostAhead < 1024 * 1024, `${mostAhead} bytes`)
})
