import { phoneClass } from '../../base/phone/phone-variants.ts'
import type { UniqueField } from '../lead/errors.ts'
import type { Lead } from '../lead/lead.ts'

export type MatchBy = 'id' | 'uniqueCode' | 'phone' | 'externalRef'

/** The leads that a batch touches, as they stand after each of its items. */
export interface WorkingSet {
  /** The lead that goes by this value; of several with one phone, the oldest, and before those that have several. */
  find(by: MatchBy, value: string): Lead | undefined
  put(lead: Lead): void
}

export function workingSet(leads: readonly Lead[]): WorkingSet {
  const byId = new Map<string, Lead>()
  const byName: Record<UniqueField, Map<string, string>> = { uniqueCode: new Map(), externalRef: new Map() }
  const byPhone = new Map<string, Set<string>>()
  const byContact = new Map<string, Set<string>>()

  const put = (lead: Lead) => {
    const before = byId.get(lead.id)
    if (before !== undefined) {
      byName.uniqueCode.delete(before.uniqueCode)
      if (before.externalRef !== null) byName.externalRef.delete(before.externalRef)
      if (before.phone !== null) byPhone.get(phoneClass(before.phone))?.delete(before.id)
    }
    byId.set(lead.id, lead)
    byName.uniqueCode.set(lead.uniqueCode, lead.id)
    if (lead.externalRef !== null) byName.externalRef.set(lead.externalRef, lead.id)
    if (lead.phone !== null) {
      const key = phoneClass(lead.phone)
      byPhone.set(key, (byPhone.get(key) ?? new Set()).add(lead.id))
    }
    for (const phone of lead.contacts?.phones ?? []) {
      const key = phoneClass(phone)
      byContact.set(key, (byContact.get(key) ?? new Set()).add(lead.id))
    }
  }
  for (const lead of leads) put(lead)

  const oldest = (ids: Iterable<string>): Lead | undefined =>
    [...ids]
      .flatMap((id) => byId.get(id) ?? [])
      .sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime() || (a.id < b.id ? -1 : 1))[0]

  return {
    put,
    find: (by, value) => {
      if (by === 'id') return byId.get(value)
      if (by === 'phone') {
        const key = phoneClass(value)
        return oldest(byPhone.get(key) ?? []) ?? oldest(byContact.get(key) ?? [])
      }
      return byId.get(byName[by].get(value) ?? '')
    },
  }
}
