import type { FetchedTemplates } from '../adapter.ts'
import type { WabaConnection } from '../connection/connection.ts'
import {
  hasPlaceholder,
  normalizeLanguage,
  type PlatformTemplate,
  parseBody,
  type TemplateHeader,
  templateHeaders,
} from '../templates/templates.ts'
import { type JsonObject, listOf, objectOf, textOf } from './json.ts'
import { fetchGraph, type PlatformHttp } from './platform-call.ts'

const fields = 'id,name,language,status,category,parameter_format,components'
const pageSize = 100
const maxPages = 100

type Failed = Extract<FetchedTemplates, { ok: false }>

/**
 * Returns all templates of a list, or the first error. `read` receives the cursor and the 1-based number of each page;
 * a null `next` ends the list.
 */
export async function readPages(
  first: string,
  read: (pageCursor: string, page: number) => Promise<{ ok: true; listed: unknown[]; next: string | null } | Failed>,
): Promise<FetchedTemplates> {
  // Pages may shift while they are read, so a template can appear twice: name and language identify it.
  const found = new Map<string, PlatformTemplate>()
  let pageCursor = first
  for (let page = 1; page <= maxPages; page++) {
    const answer = await read(pageCursor, page)
    if (!answer.ok) return answer
    for (const template of answer.listed.map(parseTemplate)) {
      if (template !== null) found.set(`${template.name} ${template.language}`, template)
    }
    if (answer.next === null) return { ok: true, templates: [...found.values()] }
    pageCursor = answer.next
  }
  return { ok: false, errorCode: 'too_many_templates', isDown: false }
}

/** Returns the templates of a connection's account. */
export async function fetchTemplates(
  http: PlatformHttp,
  { accountId, settings }: WabaConnection,
): Promise<FetchedTemplates> {
  if (accountId === null) return { ok: true, templates: [] }
  const path = `${encodeURIComponent(accountId)}/message_templates?fields=${fields}&limit=${pageSize}`
  return readPages('', async (after) => {
    const cursor = after === '' ? '' : `&after=${encodeURIComponent(after)}`
    const answer = await fetchGraph(http, settings, path + cursor)
    if (!answer.ok) return answer
    const next = nextCursor(answer.body.paging)
    return { ok: true, listed: listOf(answer.body.data), next: next === after ? null : next }
  })
}

// The last page has a cursor too; only `next` shows that there is more. It contains the token: not followed.
function nextCursor(paging: unknown): string | null {
  const { next, cursors } = objectOf(paging)
  return textOf(next) === null ? null : textOf(objectOf(cursors).after)
}

/** Parses a template of the platform's list; null if name, language or status is missing. */
export function parseTemplate(value: unknown): PlatformTemplate | null {
  const { name, language, status, category, parameter_format, components } = objectOf(value)
  const [knownName, knownLanguage, knownStatus] = [textOf(name), textOf(language), textOf(status)]
  if (knownName === null || knownLanguage === null || knownStatus === null) return null
  const parts = listOf(components).map(objectOf)
  const body = textOf(parts.find((part) => typeOf(part) === 'BODY')?.text)
  const isAuthentication = textOf(category)?.toUpperCase() === 'AUTHENTICATION'
  const incomplete = parts.filter((part) => !isComplete(part))
  const isPlain = body !== null && !isAuthentication
  return {
    name: knownName,
    language: normalizeLanguage(knownLanguage),
    category: textOf(category) ?? '',
    status: knownStatus.toUpperCase(),
    ...parseBody(body ?? '', textOf(parameter_format)?.toUpperCase() === 'NAMED'),
    bodyOnly: isPlain && incomplete.length === 0,
    header: isPlain ? headerFile(incomplete) : null,
  }
}

/** Returns whether a component can be sent without values. Unknown components are assumed to need some. */
function isComplete(part: JsonObject): boolean {
  switch (typeOf(part)) {
    case 'BODY':
    case 'FOOTER':
      return true
    case 'HEADER':
      return (textOf(part.format)?.toUpperCase() ?? 'TEXT') === 'TEXT' && !hasPlaceholder(textOf(part.text) ?? '')
    case 'BUTTONS':
      return listOf(part.buttons).map(objectOf).every(isPlainButton)
    default:
      return false
  }
}

/** Returns the type of the header's file, if nothing else is needed. */
function headerFile([part, ...others]: readonly JsonObject[]): TemplateHeader | null {
  if (part === undefined || others.length > 0 || typeOf(part) !== 'HEADER') return null
  const format = textOf(part.format)?.toLowerCase()
  return templateHeaders.find((header) => header === format) ?? null
}

function isPlainButton(button: JsonObject): boolean {
  const type = typeOf(button)
  if (type === 'URL') return !hasPlaceholder(textOf(button.url) ?? '')
  return type === 'QUICK_REPLY' || type === 'PHONE_NUMBER' || type === 'VOICE_CALL'
}

const typeOf = (part: JsonObject): string => textOf(part.type)?.toUpperCase() ?? ''
