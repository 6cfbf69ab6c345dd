import { maskOf } from '../../base/phone/mask.ts'

/** What a masked reader sees of the customer. A name that shows the number is no name. */
export function maskContact<C extends { name: string | null; phone: string | null }>(contact: C): C {
  const mask = maskOf(contact.phone)
  return { ...contact, name: contact.name === null ? null : mask.name(contact.name), phone: mask.phone }
}
