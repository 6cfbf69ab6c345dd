import { copyStatement } from '../../server/src/base/copy/catalog.ts'
import type { Sql } from '../../server/src/base/db.ts'

/** Collects rows of one table in the format of `copy … from stdin (format binary)`. */
export interface RowBuffer {
  readonly statement: string
  add(row: Readonly<Record<string, unknown>>): void
  /** Encodes a row without adding it. */
  encode(row: Readonly<Record<string, unknown>>): Buffer
  /** Reserves space for a row of this many bytes, which the caller writes. */
  reserve(bytes: number): { bytes: Buffer; at: number }
  bytes(): number
  /** Returns the collected rows with header and trailer, and empties the sheet. */
  flush(): Buffer
}

interface Column {
  name: string
  type: string
}

/** Opens sheets for tables; the columns of each are those of its first row. */
export async function openRowBuffers(sql: Sql, tables: readonly string[]): Promise<(table: string) => RowBuffer> {
  const rows = await sql<(Column & { table: string })[]>`
    select c.relname as table, a.attname as name, t.typname as type
    from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    join pg_type t on t.oid = a.atttypid
    where c.relname = any (${[...tables]}::text[])
      and c.relnamespace = current_schema()::regnamespace`
  const sheets = new Map<string, RowBuffer>()
  return (table) => {
    const known =
      sheets.get(table) ??
      openRowBuffer(
        table,
        rows.filter((row) => row.table === table),
      )
    sheets.set(table, known)
    return known
  }
}

const signature = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1')
const maxRowBytes = 64 * 1024

function openRowBuffer(table: string, all: readonly Column[]): RowBuffer {
  let columns: { name: string; write: Write }[] | undefined
  let [page, at] = [Buffer.allocUnsafe(1024 * 1024), signature.copy(Buffer.alloc(signature.length))]
  const columnsOf = (row: Readonly<Record<string, unknown>>) =>
    Object.keys(row).map((name) => {
      const column = all.find((one) => one.name === name)
      const write = writes[column?.type ?? '']
      if (write === undefined) throw new Error(`${table}.${name} has a type that the benchmark cannot write`)
      return { name, write }
    })
  signature.copy(page)
  const grow = (bytes: number) => {
    if (page.length - at < bytes) page = Buffer.concat([page], page.length * 2)
  }
  const add = (row: Readonly<Record<string, unknown>>) => {
    columns ??= columnsOf(row)
    grow(maxRowBytes)
    at = page.writeInt16BE(columns.length, at)
    for (const { name, write } of columns) {
      const value = row[name]
      at = value === null || value === undefined ? page.writeInt32BE(-1, at) : write(page, at, value)
    }
  }
  return {
    get statement() {
      return copyStatement({ name: table, columns: (columns ?? []).map(({ name }) => name) }, 'from stdin').replace(
        ', freeze',
        '',
      )
    },
    add,
    encode: (row) => {
      const before = at
      add(row)
      const bytes = Buffer.from(page.subarray(before, at))
      at = before
      return bytes
    },
    reserve: (bytes) => {
      grow(bytes + 2)
      at += bytes
      return { bytes: page, at: at - bytes }
    },
    bytes: () => at - signature.length,
    flush: () => {
      at = page.writeInt16BE(-1, at)
      const taken = Buffer.from(page.subarray(0, at))
      at = signature.length
      return taken
    },
  }
}

/** Writes the length of a value, then the value; returns the end position. */
type Write = (page: Buffer, at: number, value: unknown) => number

const oidOf = { int4: 23, uuid: 2950 }

const uuidBytes: Write = (page, at, value) => at + page.write(String(value).replaceAll('-', ''), at, 'hex')
const withLength =
  (write: Write): Write =>
  (page, at, value) => {
    const end = write(page, at + 4, value)
    page.writeInt32BE(end - at - 4, at)
    return end
  }
const int4: Write = withLength((page, at, value) => page.writeInt32BE(Number(value), at))
const uuid: Write = withLength(uuidBytes)
const text: Write = withLength((page, at, value) => at + page.write(String(value), at))

const writes: Record<string, Write> = {
  int4,
  uuid,
  text,
  int2: withLength((page, at, value) => page.writeInt16BE(Number(value), at)),
  int8: withLength((page, at, value) => page.writeBigInt64BE(BigInt(Number(value)), at)),
  bool: withLength((page, at, value) => page.writeInt8(value === true ? 1 : 0, at)),
  bytea: withLength((page, at, value) => at + (value as Buffer).copy(page, at)),
  timestamptz: withLength((page, at, value) => writeTime(page, at, (value as Date).getTime())),
  numeric: withLength(writeNumeric),
  // After the version of the format.
  jsonb: withLength((page, at, value) => {
    const begin = page.writeInt8(1, at)
    return begin + page.write(JSON.stringify(value), begin)
  }),
  _int4: arrayOf(oidOf.int4, int4),
  _uuid: arrayOf(oidOf.uuid, uuid),
}

const epochMs = Date.UTC(2000, 0, 1)

/** Writes a timestamp, given in milliseconds, as eight bytes; returns the end position. */
export function writeTime(page: Buffer, at: number, ms: number): number {
  const us = (ms - epochMs) * 1000
  return page.writeUInt32BE(us % 2 ** 32, page.writeInt32BE(Math.floor(us / 2 ** 32), at))
}

/** Writes an amount below ten thousand with cents: one base-10,000 digit before the point and one after it. */
function writeNumeric(page: Buffer, at: number, value: unknown): number {
  const cents = Math.round(Number(value) * 100)
  const digits = [Math.floor(cents / 100), (cents % 100) * 100]
  const head = [digits.length, 0, 0, 2]
  return [...head, ...digits].reduce((to, word) => page.writeInt16BE(word, to), at)
}

function arrayOf(oid: number, write: Write): Write {
  return withLength((page, at, value) => {
    const all = value as readonly unknown[]
    const head = all.length === 0 ? [0, 0, oid] : [1, 0, oid, all.length, 1]
    let end = head.reduce((to, word) => page.writeInt32BE(word, to), at)
    for (const one of all) end = write(page, end, one)
    return end
  })
}
