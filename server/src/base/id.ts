import { fillRandom } from './random.ts'

let lastMs = 0
let sequence = 0

/**
 * A UUIDv7 whose order is the order of calls within this process: rows made in one millisecond keep the order
 * in which they were made, so `id` is a true tie-breaker.
 */
export function newId(now: Date): string {
  const ms = now.getTime()
  const bytes = Buffer.allocUnsafe(16)
  fillRandom(bytes)
  sequence = ms === lastMs ? sequence + 1 : bytes.readUInt16BE(6) & 0x7ff
  // The 12-bit counter is spent: borrow from the next millisecond rather than repeat or go back.
  const carried = sequence > 0xfff
  if (carried) sequence = 0
  lastMs = ms
  bytes.writeUIntBE(carried ? ms + 1 : ms, 0, 6)
  bytes.writeUInt16BE(0x7000 | sequence, 6)
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8)
  const hex = bytes.toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

const uuidShape = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

export function isUuid(text: string): boolean {
  return uuidShape.test(text)
}
