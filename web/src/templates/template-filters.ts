import type { ListedTemplate } from '../data/team/templates.ts'
import { foldText } from '../ui/format/fold-text.ts'

/** Conditions on templates; an empty text is any. */
export interface TemplateFilters {
  term: string
  status: string
  category: string
  language: string
  connectionId: string
}

export const noFilters: TemplateFilters = { term: '', status: '', category: '', language: '', connectionId: '' }

export const isFiltered = (filters: TemplateFilters): boolean => Object.values(filters).some((value) => value !== '')

/** Returns the templates that match, by name and language; each word of the term must be in the name or the text. */
export function filterTemplates(all: readonly ListedTemplate[], filters: TemplateFilters): ListedTemplate[] {
  const words = foldText(filters.term)
    .split(/[\s_]+/)
    .filter((word) => word !== '')
  const fits = (wanted: string, value: string) => wanted === '' || wanted === value
  return all
    .filter(
      (one) =>
        fits(filters.status, one.status) &&
        fits(filters.category, one.category) &&
        fits(filters.language, one.language) &&
        fits(filters.connectionId, one.connectionId) &&
        words.every((word) => foldText(`${one.name} ${one.body}`).includes(word)),
    )
    .sort((a, b) => a.name.localeCompare(b.name) || a.language.localeCompare(b.language))
}

/** Returns the distinct values of a field, in order. */
export const valuesOf = (all: readonly ListedTemplate[], field: 'status' | 'category' | 'language'): string[] =>
  [...new Set(all.map((one) => one[field]))].sort()
