import type { Loose } from '../../waba/json.ts'
import type { Read } from '../../waba/read/reading.ts'
import { customerOf, readName } from './jid.ts'

/** One of the phone's contacts: a name for a customer, or both of their addresses. */
export function readContact({ id, lid, phoneNumber, name, verifiedName, notify }: Loose): Read {
  const customer = customerOf([id, lid, phoneNumber], readName(name, verifiedName, notify))
  if (customer === null) return 'contact that is no person'
  const isNews = customer.name !== null || (customer.userId !== null && customer.phone !== null)
  return isNews ? { type: 'contact_named', customer } : 'contact without a name'
}

/**
 * The phone behind a hidden address. Returned as a contact without a name: whoever is known by one of the two is then known by
 * both, and who seemed to be two becomes one.
 */
export function readMapping({ lid, pn }: Loose): Read {
  const customer = customerOf([lid, pn], null)
  if (customer === null || customer.userId === null || customer.phone === null) return 'mapping without both addresses'
  return { type: 'contact_named', customer }
}
