import type { FetchedTemplates } from '../adapter.ts'
import type { WabaConnection } from '../connection/connection.ts'
import {
  hasPlaceholder,
  normalLanguage,
  type PlatformTemplate,
  readBody,
  type TemplateHeader,
  templateHeaders,
} from '../templates/templates.ts'
import { fetchGraph, type Wire } from './exchange.ts'
import { type Loose, listOf, objectOf, textOf } from './json.ts'

const fields = 'id,name,language,status,category,parameter_format,components'
const pageSize = 100
const maxPages = 100

/** Reads all templates of a connection's account, or none. */
export async function fetchTemplates(wire: Wire, connection: WabaConnection): Promise<FetchedTemplates> {
  if (connection.accountId === null) return { ok: true, templates: [] }
  const path = `${encodeURIComponent(connection.accountId)}/message_templates?fields=${fields}&limit=${pageSize}`
  // Pages may shift while they are read, so that one is told twice: name and language make a template.
  const found = new Map<string, PlatformTemplate>()
  let after: string | null = null
  for (let page = 0; page < maxPages; page++) {
    const cursor: string = after === null ? '' : `&after=${encodeURIComponent(after)}`
    const answer = await fetchGraph(wire, connection.settings, path + cursor)
    if (!answer.ok) return answer
    for (const one of listOf(answer.body.data)) {
      const template = readTemplate(one)
      if (template !== null) found.set(`${template.name} ${template.language}`, template)
    }
    const next = nextCursor(answer.body.paging)
    if (next === null || next === after) return { ok: true, templates: [...found.values()] }
    after = next
  }
  return { ok: false, errorCode: 'too_many_templates', isDown: false }
}

// There is a cursor on the last page as well; only `next` says that there is more. It holds the token: not followed.
function nextCursor(paging: unknown): string | null {
  const { next, cursors } = objectOf(paging)
  return textOf(next) === null ? null : textOf(objectOf(cursors).after)
}

/** A template of the platform's list; null when it lacks its name, language or status. */
export function readTemplate(value: unknown): PlatformTemplate | null {
  const { name, language, status, category, parameter_format, components } = objectOf(value)
  const [knownName, knownLanguage, knownStatus] = [textOf(name), textOf(language), textOf(status)]
  if (knownName === null || knownLanguage === null || knownStatus === null) return null
  const parts = listOf(components).map(objectOf)
  const body = textOf(parts.find((part) => typeOf(part) === 'BODY')?.text)
  const isAuthentication = textOf(category)?.toUpperCase() === 'AUTHENTICATION'
  const lacking = parts.filter((part) => !needsNothing(part))
  const isPlain = body !== null && !isAuthentication
  return {
    name: knownName,
    language: normalLanguage(knownLanguage),
    category: textOf(category) ?? '',
    status: knownStatus.toUpperCase(),
    ...readBody(body ?? '', textOf(parameter_format)?.toUpperCase() === 'NAMED'),
    bodyOnly: isPlain && lacking.length === 0,
    header: isPlain ? fileOnly(lacking) : null,
  }
}

/** Whether this part of a template is sent as it stands. What is not known is taken to need something. */
function needsNothing(part: Loose): boolean {
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

/** The file that a header needs, where nothing else is lacking. */
function fileOnly([part, ...others]: readonly Loose[]): TemplateHeader | null {
  if (part === undefined || others.length > 0 || typeOf(part) !== 'HEADER') return null
  const format = textOf(part.format)?.toLowerCase()
  return templateHeaders.find((header) => header === format) ?? null
}

function isPlainButton(button: Loose): boolean {
  const type = typeOf(button)
  if (type === 'URL') return !hasPlaceholder(textOf(button.url) ?? '')
  return type === 'QUICK_REPLY' || type === 'PHONE_NUMBER' || type === 'VOICE_CALL'
}

const typeOf = (part: Loose): string => textOf(part.type)?.toUpperCase() ?? ''
