import type { CheckedNumber } from '../adapter.ts'
import type { StoredConnection } from './connection.ts'

/** Where the platform is; null is the real network of phones. */
export function originOf(baseUrl: string | null): string {
  return baseUrl === null ? 'network' : new URL(baseUrl).origin
}

/** How a number is reserved: what one platform calls a number says nothing of another platform's. */
export function reservationOf(baseUrl: string | null, number: string): string {
  return `${originOf(baseUrl)} ${number}`
}

/** The connection with its number reserved, if the platform has answered for it, and with what customers see of it. */
export function reserved<C extends StoredConnection>(one: C, { problem, number, phone = null }: CheckedNumber): C {
  if (problem !== null || number === null) return one
  return { ...one, reservedAs: reservationOf(one.settings.baseUrl, number), phone: phone ?? one.phone }
}

/** Whether two states of a connection lead to one number of one platform. */
export function isSameNumber(a: StoredConnection, b: StoredConnection): boolean {
  return a.numberId === b.numberId && originOf(a.settings.baseUrl) === originOf(b.settings.baseUrl)
}
