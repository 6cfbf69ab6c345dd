import type { BroadcastDraft, Variable, Variant } from '../data/outreach/broadcasts.ts'
import type { SavedFilter } from '../data/saved-filters.ts'
import { queryOf, readSavedQuery } from '../shared/lead-view/address.ts'
import type { Template } from '../shared/template-preview.ts'

/** Fields of a lead that can fill a variable. */
export const variableFields = [
  'firstName',
  'lastName',
  'fullName',
  'email',
  'phone',
  'status',
  'source',
  'estimatedValue',
  'actualValue',
  'uniqueCode',
  'externalRef',
] as const

export type DraftValue = Omit<BroadcastDraft, 'connectionId'> & { connectionId: string | null }

export const emptyVariant: Variant = {
  template: { name: '', language: '' },
  ...{ weight: 1, body: [], header: null, buttons: [] },
}

export const newDraft = (connectionId: string | null): DraftValue => ({
  ...{ name: '', connectionId },
  audience: { filter: {}, viewName: null },
  variants: [emptyVariant],
  options: { quietDays: 1, optInOnly: false, perMinute: null },
})

/** Returns the filter of a saved view, without its order. */
export function audienceOf(view: Pick<SavedFilter, 'name' | 'query'> | undefined): BroadcastDraft['audience'] {
  if (view === undefined) return { filter: {}, viewName: null }
  const { sortBy: _, sortOrder: _order, sortLanguage: _language, ...filter } = queryOf(readSavedQuery(view.query))
  return { filter, viewName: view.name }
}

const firstName: Variable = { from: 'field', value: 'firstName' }

/** Returns a variant of a template: the first variable is mostly the name. Coordinates are NaN until someone enters them. */
export function variantOf({ name, language, parameterCount, header, inputs }: Template, weight: number): Variant {
  const text = { from: 'text' as const, value: '' }
  return {
    template: { name, language },
    weight,
    body: Array.from({ length: parameterCount }, (_, n) => (n === 0 ? firstName : text)),
    header: inputs?.headerText == null ? null : text,
    ...(header !== null && { file: text }),
    ...(inputs?.headerLocation && { location: { latitude: Number.NaN, longitude: Number.NaN } }),
    buttons: (inputs?.buttons ?? []).map(() => text),
  }
}

/** Returns whether a broadcast can send a template: codes are sent one by one. */
export const canBroadcast = ({ sendable, category }: Template): boolean =>
  sendable && category.toUpperCase() !== 'AUTHENTICATION'

/** Returns whether the platform can load a file from an address. */
export const isFileUrl = (address: string): boolean => URL.parse(address.trim())?.protocol === 'https:'

const isVariantComplete = ({ template, body, header, file, location, buttons }: Variant): boolean =>
  template.name !== '' &&
  [...body, header, file, ...buttons].every((variable) => variable == null || variable.value.trim() !== '') &&
  (file?.from !== 'text' || isFileUrl(file.value)) &&
  (location == null || Number.isFinite(location.latitude + location.longitude))

/** Returns the draft as the server takes it; null while something is missing. */
export function completeDraft({ connectionId, ...draft }: DraftValue): BroadcastDraft | null {
  const isComplete = draft.name.trim() !== '' && draft.variants.every(isVariantComplete)
  return connectionId === null || !isComplete ? null : { ...draft, connectionId }
}

/** Returns the recipients that one after the other of the variants gets, in percent. */
export function sharesOf(variants: readonly Pick<Variant, 'weight'>[]): number[] {
  const total = variants.reduce((sum, { weight }) => sum + weight, 0)
  return variants.map(({ weight }) => Math.round((weight / total) * 100))
}
