import type { FormerValues } from '../bulk/items.ts'
import { type CustomField, maxCustomFields } from '../lead/custom-fields.ts'
import type { Lead } from '../lead/lead.ts'
import type { Former } from './merges.ts'
import { mergeFields } from './plan-merge.ts'

/** What a lead gets back of a merge, and the fields that stay since somebody changed them afterwards. */
export function planUndo(lead: Lead, { before, after }: Former): { fields: Partial<Lead>; left: string[] } {
  const left: string[] = []
  const back = mergeFields.flatMap((name) => {
    if (!(name in before)) return []
    if (lead[name] === after[name]) return [[name, before[name]]]
    if (lead[name] !== before[name]) left.push(name)
    return []
  })
  const { customFields, kept } = customFieldsBack(lead.customFields, before.customFields, after.customFields)
  return { fields: { ...Object.fromEntries(back), customFields }, left: [...left, ...kept] }
}

/**
 * What a later merge into the same lead has noted, once an earlier one was undone: a value that came by that one, and was there
 * when the later merge was made, is not to come back with its undo.
 */
export function withoutUndone(later: Former, undone: Former): Former {
  const came = mergeFields.filter((name) => name in undone.before && later.before[name] === undone.after[name])
  const former = came.flatMap((name) => (name in later.before ? [[name, undone.before[name]]] : []))
  return {
    ...later,
    before: { ...later.before, ...Object.fromEntries(former), ...fieldsWithout(later.before, undone) },
    after: { ...later.after, ...fieldsWithout(later.after, undone) },
  }
}

function fieldsWithout({ customFields }: FormerValues, { before, after }: Former): Pick<FormerValues, 'customFields'> {
  if (customFields === undefined || before.customFields === undefined || after.customFields === undefined) return {}
  const { customFields: fields } = customFieldsBack(customFields, before.customFields, after.customFields)
  return { customFields: fields }
}

type Fields = readonly CustomField[]

function customFieldsBack(now: Fields, before: Fields | undefined, after: Fields | undefined) {
  if (before === undefined || after === undefined) return { customFields: [...now], kept: [] }
  const fields = new Map(now.map((field) => [field.key, field]))
  const valueIn = (all: Fields, key: string) => JSON.stringify(all.find((field) => field.key === key) ?? null)
  const kept: string[] = []
  for (const key of new Set([...before, ...after].map((field) => field.key))) {
    const [old, set, present] = [before, after, now].map((all) => valueIn(all, key))
    if (old === set || present === old) continue
    const field = before.find((one) => one.key === key)
    if (present !== set) kept.push(`customFields.${key}`)
    else if (field === undefined) fields.delete(key)
    else if (fields.has(key) || fields.size < maxCustomFields) fields.set(key, field)
    else kept.push(`customFields.${key}`)
  }
  return { customFields: [...fields.values()], kept }
}
