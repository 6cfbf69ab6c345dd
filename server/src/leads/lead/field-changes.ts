import type { Lead, LeadFields } from './lead.ts'

/** What a field was before and is after. Long texts are cut: the timeline tells that they changed. */
export interface FieldChange {
  /** As in the lead; of its own fields `field:<key>`. */
  field: string
  label?: string
  from: string | number | boolean | null
  to: string | number | boolean | null
}

const most = 200
const mostFields = 40

// All but the status, whose history is kept on its own.
const told = {
  firstName: true,
  lastName: true,
  email: true,
  phone: true,
  priority: true,
  source: true,
  adPlatform: true,
  assignedTo: true,
  estimatedValue: true,
  actualValue: true,
  notes: true,
  externalRef: true,
  uniqueCode: true,
} satisfies Record<Exclude<keyof LeadFields, 'status'>, true>

const names = Object.keys(told) as (keyof typeof told)[]

/** The fields that differ, in the order of a lead's fields. */
export function fieldChanges(before: Lead, after: Lead): FieldChange[] {
  const changes: FieldChange[] = []
  for (const field of names) {
    if (before[field] !== after[field]) changes.push({ field, from: cut(before[field]), to: cut(after[field]) })
  }
  if (before.customFields !== after.customFields) changes.push(...customChanges(before, after))
  return changes.slice(0, mostFields)
}

function customChanges(before: Lead, after: Lead): FieldChange[] {
  const former = new Map(before.customFields.map((one) => [one.key, one]))
  const now = new Map(after.customFields.map((one) => [one.key, one]))
  return [...new Set([...former.keys(), ...now.keys()])].flatMap((key) => {
    const [from, to] = [former.get(key), now.get(key)]
    if (from?.value === to?.value) return []
    return [
      { field: `field:${key}`, label: to?.label ?? from?.label ?? key, from: plain(from?.value), to: plain(to?.value) },
    ]
  })
}

const plain = (value: unknown): FieldChange['from'] =>
  value === undefined || value === null
    ? null
    : typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
      ? cut(value)
      : cut(JSON.stringify(value))

const cut = <T extends string | number | boolean | null>(value: T): T | string =>
  typeof value === 'string' && value.length > most ? `${value.slice(0, most - 1)}…` : value
