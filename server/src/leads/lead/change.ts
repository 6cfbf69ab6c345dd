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
  /** False if the patch sets only current values. */
  changed: boolean
  issues: Issue[]
}

/** Returns the lead with the patch applied. `updatedAt` increases only if something changes, and never decreases. */
export function applyPatch(lead: Lead, sentPatch: LeadPatch, at: string, now: Date): LeadChange {
  const { patch, overwritesHidden } = sentPatch.masked
    ? unmaskPatch(lead, sentPatch)
    : { patch: sentPatch, overwritesHidden: false }
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
    const notes = appendLine(lead.notes, patch.appendNotes)
    if (notes.length <= maxNotes) fields.notes = notes
    else
      issues.push({ path: joinPath(at, 'appendNotes'), message: `would make notes longer than ${maxNotes} characters` })
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
    overwritesHidden ||
    names.some((name) => fields[name] !== lead[name]) ||
    !sameCustomFields(customFields, lead.customFields)
  if (!changed) return { lead, changed, issues }
  const updatedAt = new Date(Math.max(now.getTime(), lead.updatedAt.getTime()))
  return { lead: withFormerPhones({ ...lead, ...fields, customFields, updatedAt }, lead), changed, issues }
}

const maxNotes = 10_000

// A retry after a lost response does not add the text twice.
function appendLine(notes: string | null, more: string): string {
  if (notes === null) return more
  return `\n${notes}\n`.includes(`\n${more}\n`) ? notes : `${notes}\n${more}`
}

/** Returns a new lead with the contract's defaults: status `new`, priority `medium`, source `other`, generated code. */
export function newLead(patch: LeadPatch, id: string, at: string, now: Date): LeadChange {
  const change = applyPatch(blankLead(id, newUniqueCode(), now), patch, at, now)
  if (change.lead.firstName !== '') return change
  return { ...change, issues: [{ path: joinPath(at, 'firstName'), message: 'is required' }, ...change.issues] }
}

/** Returns a lead with default values and no personal data. */
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

// Leaves out I, L, O and U, which are misread or form words. The leading letter keeps a code from looking like a phone,
// the one in the middle from containing seven digits in a row, which masked keys would not see. 256 is a multiple of 32
// and 16, so all characters are equally likely.
const codeAlphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const codeLetters = codeAlphabet.slice(10, 26)
const middle = 5

function newUniqueCode(): string {
  const random = Buffer.allocUnsafe(11)
  fillRandom(random)
  let code = 'L'
  for (const [n, byte] of random.entries()) {
    const characters = n === middle ? codeLetters : codeAlphabet
    code += characters[byte % characters.length]
  }
  return code
}
