import type { Issue } from '../../base/errors.ts'
import { phoneClass } from '../../base/phone/phone-variants.ts'
import { emailKey } from '../../base/text/email.ts'
import { joinPath } from '../../base/validation.ts'
import { type CustomField, maxCustomFields } from '../lead/custom-fields.ts'
import { type Lead, type LeadContacts, type LeadFields, leadFieldNames } from '../lead/lead.ts'
import { withFormerPhones } from '../lead/present.ts'
import { toList } from '../lead/search-lines.ts'

/** Lead whose value is kept, for fields where the user chose. */
export interface MergeChoices {
  fields: Partial<Record<keyof LeadFields, 'kept' | 'other' | 'both'>>
  customFields: Readonly<Record<string, 'kept' | 'other' | 'none'>>
}

export const maxNotes = 10_000
// Per kind.
export const maxContacts = 20

/**
 * Returns the kept lead after the merge: chosen values, else its own, with empty fields filled from the other lead.
 * Notes are joined by default if they fit. `updatedAt` always changes, since the history does.
 */
export function planMerge(
  kept: Lead,
  other: Lead,
  { fields, customFields: chosen }: MergeChoices,
  now: Date,
): { lead: Lead; issues: Issue[] } {
  const notes = notesOf(kept.notes, other.notes, fields.notes)
  const { list: customFields, issues } = customFieldsOf(kept, other, chosen)
  const contacts = contactsOf(kept, other)
  if ((notes?.length ?? 0) > maxNotes) {
    issues.push({
      path: 'fields.notes',
      message: `must have at most ${maxNotes} characters; choose the notes of one lead`,
    })
  }
  if (Math.max(contacts.phones.length, contacts.emails.length) > maxContacts) {
    issues.push({ path: 'otherId', message: `would give the lead more than ${maxContacts} phones or e-mails` })
  }
  const { contacts: _, ...before } = kept
  const picked = Object.fromEntries(leadFieldNames.map((name) => [name, pick(kept[name], other[name], fields[name])]))
  const lead: Lead = {
    ...before,
    ...picked,
    notes,
    customFields,
    ...(contacts.phones.length + contacts.emails.length > 0 && { contacts }),
    updatedAt: new Date(Math.max(now.getTime(), kept.updatedAt.getTime())),
  }
  return { lead: withFormerPhones(lead, kept, other), issues }
}

function pick<T>(kept: T, other: T, choice: 'kept' | 'other' | 'both' | undefined): T {
  if (choice === 'other') return other
  return choice === 'kept' ? kept : (kept ?? other)
}

function notesOf(kept: string | null, other: string | null, choice: 'kept' | 'other' | 'both' | undefined) {
  if (choice === 'kept' || choice === 'other') return choice === 'kept' ? kept : other
  if (kept === null || other === null || kept === other) return kept ?? other
  const both = `${kept}\n\n${other}`
  return choice === 'both' || both.length <= maxNotes ? both : kept
}

function customFieldsOf(kept: Lead, other: Lead, chosen: MergeChoices['customFields']) {
  const fields = new Map<string, CustomField>()
  const issues: Issue[] = []
  const keys = new Set([...kept.customFields, ...other.customFields].map(({ key }) => key))
  for (const key of keys) {
    const [own, others] = [kept, other].map(({ customFields }) => customFields.find((field) => field.key === key))
    const choice = chosen[key]
    const field =
      choice === 'none' ? undefined : choice === undefined ? (own ?? others) : choice === 'kept' ? own : others
    if (field !== undefined) fields.set(key, field)
  }
  for (const key of Object.keys(chosen)) {
    if (!keys.has(key))
      issues.push({ path: joinPath('customFields', key), message: 'must be a field of one of the leads' })
  }
  if (fields.size > maxCustomFields) {
    const message = `a lead has at most ${maxCustomFields} custom fields; set ${fields.size - maxCustomFields} of them to none`
    issues.push({ path: 'customFields', message })
  }
  return { list: [...fields.values()], issues }
}

/** Returns all phones and e-mails of both leads; a kind with only one value is empty. */
function contactsOf(kept: Lead, other: Lead): LeadContacts {
  const both = [kept, other]
  return {
    phones: distinctIfSeveral(
      both.flatMap(({ phone, contacts }) => [...toList(phone), ...(contacts?.phones ?? [])]),
      phoneClass,
    ),
    emails: distinctIfSeveral(
      both.flatMap(({ email, contacts }) => [...toList(email), ...(contacts?.emails ?? [])]),
      emailKey,
    ),
  }
}

/** Returns the distinct values in their order; empty if there are fewer than two. */
export function distinctIfSeveral(values: readonly string[], sameness: (value: string) => string): string[] {
  const distinct = new Map(values.toReversed().map((value) => [sameness(value), value]))
  const kept = values.filter((value, n) => distinct.get(sameness(value)) === value && values.indexOf(value) === n)
  return kept.length > 1 ? kept : []
}
