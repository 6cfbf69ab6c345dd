import { randomInt } from 'node:crypto'

/** An id as the platform makes them. */
export const randomDigits = (count: number): string =>
  `1${Array.from({ length: count - 1 }, () => randomInt(10)).join('')}`
