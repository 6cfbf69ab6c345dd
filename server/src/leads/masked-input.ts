import { maskPhone } from '../base/phone.ts'
import type { Lead } from './lead.ts'
import type { LeadChanges } from './schema.ts'

/**
 * A caller who sees phones masked can send back a lead as it was read: the mask of the stored phone is no change.
 */
export function withoutOwnMask(body: LeadChanges, lead: Lead, masked: boolean): LeadChanges {
  if (!masked || lead.phone === null || body.phone !== maskPhone(lead.phone)) return body
  const { phone: _, ...rest } = body
  return rest
}
