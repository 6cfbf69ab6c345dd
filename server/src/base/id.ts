import { randomFillSync } from 'node:crypto'

let firstMs = 0
let lastMs = 0
let sequence = 0

/** Returns a UUIDv7. Ids increase in the order of calls within this process, so `id` is a strict tie-breaker. */
export function newId(now: Date): string {
  const ms = now.getTime()
  const bytes = Buffer.allocUnsafe(16)
  fillRandom(bytes)
  if (ms < firstMs || ms > lastMs) {
    firstMs = ms
    lastMs = ms
    sequence = bytes.readUInt16BE(6) & 0x7ff
  } else if (++sequence > 0xfff) {
    // The 12-bit counter is exhausted: use the next millisecond, and stay ahead until the clock has passed it.
    sequence = 0
    lastMs++
  }
  bytes.writeUIntBE(lastMs, 0, 6)
  bytes.writeUInt16BE(0x7000 | sequence, 6)
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8)
  const hex = bytes.toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

/** Returns a new id that is greater than `other`, even if a clock ahead of this one created that. */
export function newIdAfter(other: string | null, now: Date): string {
  const id = newId(now)
  return other === null || id > other ? id : newId(new Date(timeOfId(other).getTime() + 1))
}

const uuidShape = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

export function isUuid(text: string): boolean {
  return uuidShape.test(text)
}

/** Returns the smallest id that can be created at or after a time. */
export function firstIdAt(time: Date): string {
  const ms = Math.max(time.getTime(), 0).toString(16).padStart(12, '0')
  return `${ms.slice(0, 8)}-${ms.slice(8)}-0000-0000-000000000000`
}

/** Returns the time at which an id was created. */
export function timeOfId(id: string): Date {
  return new Date(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16))
}

const randomPool = Buffer.allocUnsafe(8192)
let poolOffset = randomPool.length

/** Fills a short buffer from a pool of random bytes: a call per id would cost more than encrypting a lead. */
export function fillRandom(target: Buffer): void {
  if (poolOffset + target.length > randomPool.length) {
    randomFillSync(randomPool)
    poolOffset = 0
  }
  randomPool.copy(target, 0, poolOffset, poolOffset + target.length)
  poolOffset += target.length
}
