import { randomBytes, randomInt } from 'node:crypto'

export type WamidDirection = 'inbound' | 'outbound'

const inner = { inbound: { mark: 0x12, bytes: 10 }, outbound: { mark: 0x11, bytes: 9 } } as const

/** Makes a message id as the platform does: it contains the customer's address in the clear. */
export function makeWamid(customer: string, direction: WamidDirection): string {
  const { mark, bytes } = inner[direction]
  const address = Buffer.from(customer, 'latin1')
  const id = Buffer.from(randomBytes(bytes).toString('hex').toUpperCase(), 'latin1')
  const parts = [
    Buffer.from([0x1c, 0x18, address.length]),
    address,
    Buffer.from([0x15, 0x02, 0x00, mark, 0x18, id.length]),
    id,
    Buffer.from([0x00]),
  ]
  return `wamid.${Buffer.concat(parts).toString('base64')}`
}

/** Makes an id as the platform does. */
export const randomDigits = (count: number): string =>
  `1${Array.from({ length: count - 1 }, () => randomInt(10)).join('')}`
