import type { Issue } from '../../base/errors.ts'
import { fillRandom } from '../../base/id.ts'
import { phoneMessage } from '../../base/phone/phone.ts'
import { joinPath } from '../../base/validation.ts'
import { sameCustomFields, setCustomFields } from './custom-fields.ts'
import { isMaskOfOther, isPhoneMask, type LeadPatch } from './input.ts'
import type { Lead, LeadFields } from './lead.ts'
import { unmaskPatch, withFormerPhones } from './present.ts'

interface LeadChange {
  lead: Lead
  /** False when the patch sets only what is already so. */
  changed: boolean
  issues: Issue[]
}

/** The lead as the patch makes it. `updatedAt` moves only when something changes, and never backwards. */
export function applyPatch(lead: Lead, asSent: LeadPatch, at: string, now: Date): LeadChange {
  const { patch, isBlind } = asSent.masked ? unmaskPatch(lead, asSent) : { patch: asSent, isBlind: false }
  const { phoneAsSent } = patch
  const { fields: customFields, issues } = setCustomFields(
    lead.customFields,
    patch.typed,
    patch.values,
    joinPath(at, 'customFieldValues'),
    patch.fit,
  )
  const fields = { ...patch.fields }
  if (patch.appendNotes !== undefined) {
    const notes = withNotes(lead.notes, patch.appendNotes)
    if (notes.length <= maxNotes) fields.notes = notes
    else issues.push({ path: joinPath(at, 'appendNotes'), message: `leaves notes of more than ${maxNotes} characters` })
  }
  const { status } = fields
  if (status !== undefined && status !== lead.status && patch.statuses?.includes(status) === false) {
    issues.push({
      path: joinPath(at, 'status'),
      message: 'must be one of the allowed statuses',
      allowed: patch.statuses,
    })
  }
  if (lead.phone !== null && phoneAsSent === lead.phone) fields.phone = lead.phone
  if (phoneAsSent !== null && isPhoneMask(phoneAsSent) && isMaskOfOther(phoneAsSent, lead.phone)) {
    issues.push({ path: joinPath(at, 'phone'), message: phoneMessage })
  }
  const names = Object.keys(fields) as (keyof LeadFields)[]
  const changed =
    isBlind || names.some((name) => fields[name] !== lead[name]) || !sameCustomFields(customFields, lead.customFields)
  if (!changed) return { lead, changed, issues }
  const updatedAt = new Date(Math.max(now.getTime(), lead.updatedAt.getTime()))
  return { lead: withFormerPhones({ ...lead, ...fields, customFields, updatedAt }, lead), changed, issues }
}

const maxNotes = 10_000

// Said again after an answer was lost it stands there already.
function withNotes(notes: string | null, more: string): string {
  if (notes === null) return more
  return `\n${notes}\n`.includes(`\n${more}\n`) ? notes : `${notes}\n${more}`
}

/** A new lead with the defaults of the contract: status `new`, priority `medium`, source `other`, a code of its own. */
export function newLead(patch: LeadPatch, id: string, at: string, now: Date): LeadChange {
  const change = applyPatch(blankLead(id, newUniqueCode(), now), patch, at, now)
  if (change.lead.firstName !== '') return change
  return { ...change, issues: [{ path: joinPath(at, 'firstName'), message: 'is required' }, ...change.issues] }
}

/** A lead of whom nothing is known. */
export function blankLead(id: string, uniqueCode: string, now: Date): Lead {
  return {
    id,
    uniqueCode,
    externalRef: null,
    firstName: '',
    lastName: null,
    email: null,
    phone: null,
    status: 'new',
    priority: 'medium',
    source: 'other',
    adPlatform: null,
    assignedTo: null,
    estimatedValue: null,
    actualValue: null,
    notes: null,
    customFields: [],
    createdAt: now,
    updatedAt: now,
    deletedAt: null,
  }
}

// Without I, L, O and U, which are misread or make words; the letter in front keeps a code from looking like a phone. As
// 32 divides 256, each is as likely as the others.
const codeAlphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

function newUniqueCode(): string {
  const random = Buffer.allocUnsafe(11)
  fillRandom(random)
  let code = 'L'
  for (const byte of random) code += codeAlphabet[byte % codeAlphabet.length]
  return code
}
