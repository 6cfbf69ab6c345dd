import type { FetchedTemplates } from '../adapter.ts'
import type { WabaConnection } from '../connection/connection.ts'
import { inputsOf, typeOf } from '../templates/template-inputs.ts'
import {
  type ListedTemplate,
  normalizeLanguage,
  parseBody,
  type TemplateHeader,
  type TemplateQuality,
  templateHeaders,
  templateQualities,
} from '../templates/templates.ts'
import { type JsonObject, listOf, objectOf, textOf, tokenOf } from './json.ts'
import { fetchGraph, type PlatformHttp } from './platform-call.ts'

export const templateFields =
  'id,name,language,status,category,parameter_format,components,quality_score,rejected_reason'
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
  const found = new Map<string, ListedTemplate>()
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
  const path = `${encodeURIComponent(accountId)}/message_templates?fields=${templateFields}&limit=${pageSize}`
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
export function parseTemplate(value: unknown): ListedTemplate | null {
  const { id, name, language, status, category, parameter_format, components, quality_score, rejected_reason } =
    objectOf(value)
  const [knownName, knownLanguage, knownStatus] = [textOf(name), textOf(language), textOf(status)]
  if (knownName === null || knownLanguage === null || knownStatus === null) return null
  const parts = listOf(components).map(objectOf)
  const isAuthentication = textOf(category)?.toUpperCase() === 'AUTHENTICATION'
  const text = textOf(parts.find((part) => typeOf(part) === 'BODY')?.text)
  // The platform writes the text of a code. Until it lists a submitted template, the code is all that is known of it.
  const body = text ?? (isAuthentication ? '{{1}}' : null)
  const inputs = body === null ? null : inputsOf(parts, isAuthentication)
  const header = inputs === null ? null : headerFile(parts)
  const hasInputs = inputs !== null && Object.keys(inputs).length > 0
  return {
    name: knownName,
    language: normalizeLanguage(knownLanguage),
    category: textOf(category) ?? '',
    status: knownStatus.toUpperCase(),
    ...parseBody(body ?? '', textOf(parameter_format)?.toUpperCase() === 'NAMED'),
    bodyOnly: inputs !== null && !hasInputs && header === null,
    header,
    inputs: hasInputs ? inputs : null,
    externalId: tokenOf(id),
    components: withoutSamples(parts),
    quality: parseQuality(objectOf(quality_score).score),
    rejectedReason: parseReason(rejected_reason),
  }
}

/** Returns the type of the header's file, if it has one. */
function headerFile(parts: readonly JsonObject[]): TemplateHeader | null {
  const format = textOf(parts.find((part) => typeOf(part) === 'HEADER')?.format)?.toLowerCase()
  return templateHeaders.find((header) => header === format) ?? null
}

/** Larger ones are only listed: what the platform accepts is far smaller. */
const maxComponentsLength = 16_384

/** Returns the components without sample values, which people may have copied from customers. */
function withoutSamples(parts: readonly JsonObject[]): JsonObject[] | null {
  const stripped = parts.map(({ example: _, buttons, ...part }) => ({
    ...part,
    ...(buttons !== undefined && { buttons: listOf(buttons).map((one) => ({ ...objectOf(one), example: undefined })) }),
  }))
  const json = JSON.stringify(stripped)
  // Escapes of NUL and of halves of characters, which the database cannot store.
  return json.length <= maxComponentsLength && !/\\u(?:0000|d[89a-f])/i.test(json)
    ? (JSON.parse(json) as JsonObject[])
    : null
}

/** Returns a quality as `GREEN`, `YELLOW` or `RED`; null if there is none yet. */
export const parseQuality = (value: unknown): TemplateQuality | null =>
  templateQualities.find((quality) => quality === textOf(value)?.toUpperCase()) ?? null

/** Returns the reason of a rejection; null if there is none. */
export function parseReason(value: unknown): string | null {
  const reason = textOf(value)?.trim().slice(0, 200).toUpperCase() ?? 'NONE'
  return reason === 'NONE' ? null : reason
}
