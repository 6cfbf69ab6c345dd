import type { Platform } from '../platform.ts'
import { presentCustomer } from '../present.ts'
import type { BusinessNumber, Customer } from '../world.ts'
import { devicesOf } from './network.ts'
import { isFor, waiting } from './pairing.ts'

/** The owner's phone: its chats, its linked devices, and who wants to become one. */
export function presentPhone(platform: Platform, number: BusinessNumber) {
  const { numberId, name, phone } = number
  const customers = [...platform.world.customers.values()].filter((customer) => customer.numberId === numberId)
  return {
    numberId,
    name,
    phone,
    devices: devicesOf(platform.linked, numberId).map(({ id, linkedAt, socket, queue }) => ({
      id,
      linkedAt,
      isOnline: socket !== null,
      unacknowledged: queue.length,
    })),
    waiting: waiting(platform).map(({ id, pairing }) => ({
      id: id.slice(0, 8),
      qr: pairing?.qr ?? null,
      expiresAt: pairing?.expiresAt ?? null,
      wantsCode: pairing !== null && isFor(number, pairing),
    })),
    chats: customers.map((customer) => presentChatLine(platform, customer)).sort(byNewest),
  }
}

function presentChatLine(platform: Platform, customer: Customer) {
  const unread = customer.messages.filter(
    ({ from, status }) => from === 'customer' && (status === 'sent' || status === 'delivered'),
  )
  return { ...presentCustomer(platform, customer), unread: unread.length }
}

const byNewest = (a: { lastAt: Date | null }, b: { lastAt: Date | null }): number =>
  (b.lastAt?.getTime() ?? 0) - (a.lastAt?.getTime() ?? 0)
