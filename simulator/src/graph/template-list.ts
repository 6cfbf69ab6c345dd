import type { SimulatedTemplate } from '../template.ts'
import { invalidParameter } from './graph-error.ts'

const defaultLimit = 25
const maxLimit = 1000

/** One page of templates; `next` is there only when another page is. `address` is the list's own, for `next`. */
export function listTemplates(
  all: Iterable<SimulatedTemplate>,
  query: Record<string, string>,
  address: string,
): object {
  const limit = query.limit === undefined ? defaultLimit : Number(query.limit)
  if (!Number.isInteger(limit) || limit < 1 || limit > maxLimit) throw invalidParameter('Param limit is not valid.')
  const fits = [...all].filter((template) => matches(template, query))
  const start = query.after === undefined ? 0 : placeOf(query.after)
  const page = fits.slice(start, start + limit)
  const end = start + page.length
  const cursors = { before: cursorOf(start), after: cursorOf(end) }
  if (page.length === 0) return { data: [] }
  return {
    data: page,
    paging: end < fits.length ? { cursors, next: nextOf(address, query, cursors.after) } : { cursors },
  }
}

function matches(template: SimulatedTemplate, query: Record<string, string>): boolean {
  const { name, status, category, language } = query
  return (
    (name === undefined || template.name === name) &&
    (status === undefined || template.status === status) &&
    (category === undefined || template.category === category) &&
    (language === undefined || template.language === language)
  )
}

const cursorOf = (place: number): string => `${Buffer.from(String(place)).toString('base64url')}ZD`

function placeOf(cursor: string): number {
  const text = Buffer.from(cursor.replace(/ZD$/, ''), 'base64url').toString()
  if (!/^\d{1,6}$/.test(text)) throw invalidParameter('Param after is not a valid cursor.')
  return Number(text)
}

function nextOf(address: string, query: Record<string, string>, after: string): string {
  return `${address}?${new URLSearchParams({ ...query, after })}`
}
