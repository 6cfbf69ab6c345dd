import { randomFillSync } from 'node:crypto'

const supply = Buffer.allocUnsafe(8192)
let next = supply.length

/** Fills a few bytes. They come from a supply, since each call for random bytes costs more than sealing a lead. */
export function fillRandom(target: Buffer): void {
  if (next + target.length > supply.length) {
    randomFillSync(supply)
    next = 0
  }
  supply.copy(target, 0, next, next + target.length)
  next += target.length
}
