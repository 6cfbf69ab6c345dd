import { fillRandom } from '../../server/src/base/id.ts'
import { type RowBuffer, writeTime } from './binary-rows.ts'

/** Encoded row of a table, for copies that differ in values of the same length. */
export interface Template {
  bytes: Buffer
  /** Offset of each column's value. */
  at: Readonly<Record<string, number>>
}

export function templateOf(sheet: RowBuffer, row: Readonly<Record<string, unknown>>): Template {
  const bytes = sheet.encode(row)
  const at: Record<string, number> = {}
  let offset = 2
  for (const name of Object.keys(row)) {
    const length = bytes.readInt32BE(offset)
    at[name] = offset + 4
    offset += 4 + Math.max(0, length)
  }
  return { bytes, at }
}

/** Values of a copy: bytes, texts or timestamps in milliseconds, each as long as the template's value. */
export type Changes = Readonly<Record<string, Buffer | string | number>>

export function addCopy(sheet: RowBuffer, { bytes, at }: Template, changes: Changes): void {
  const page = sheet.reserve(bytes.length)
  const start = page.at
  bytes.copy(page.bytes, start)
  for (const name in changes) {
    const [value, offset] = [changes[name], start + (at[name] ?? 0)]
    if (typeof value === 'string') page.bytes.write(value, offset, 'latin1')
    else if (typeof value === 'number') writeTime(page.bytes, offset, value)
    else value?.copy(page.bytes, offset)
  }
}

/** Like `newId`, as bytes and without a counter: the order of rows with the same time does not matter. */
export function idBytes(ms: number): Buffer {
  const bytes = randomBytesOf(16)
  bytes.writeUIntBE(ms, 0, 6)
  bytes[6] = 0x70 | ((bytes[6] ?? 0) & 0x0f)
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f)
  return bytes
}

export function randomBytesOf(length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length)
  fillRandom(bytes)
  return bytes
}

export const uuidBytes = (id: string): Buffer => Buffer.from(id.replaceAll('-', ''), 'hex')

export function positionBytes(position: number): Buffer {
  const bytes = Buffer.allocUnsafe(8)
  bytes.writeBigInt64BE(BigInt(position))
  return bytes
}
