import type { FetchedTemplates } from '../adapter.ts'
import type { PartnerConnection } from '../connection/connection.ts'
import type { PlatformTemplate } from '../templates/template.ts'
import type { Wire } from '../waba/exchange.ts'
import { type Loose, listOf, objectOf, textOf } from '../waba/json.ts'
import { readTemplate } from '../waba/templates.ts'
import { ask, callTo } from './call.ts'
import { profiles } from './profile.ts'

// Other refusals may be of the reading alone: a key can send messages and still not list templates.
const keyCodes = new Set(['0', '190', 'http_401', 'invalid_api_key'])

const pageSize = 100
const maxPages = 100

/** Reads all templates of a connection, or none. */
export async function fetchTemplates(wire: Wire, connection: PartnerConnection): Promise<FetchedTemplates> {
  const found = new Map<string, PlatformTemplate>()
  let next: string | null = 'offset=0'
  for (let page = 1; next !== null; page++) {
    if (page > maxPages) return { ok: false, errorCode: 'too_many_templates', isDown: false }
    const call = callTo(connection, 'templatesPath', `?limit=${pageSize}&${next}`)
    const answer = await ask(wire, { method: 'GET', ...call })
    if (!answer.ok) return { ok: false, errorCode: answer.errorCode, isDown: keyCodes.has(answer.errorCode) }
    const { templateLists } = profiles[connection.settings.profile]
    const listed = templateLists.map((name) => listOf(answer.body[name])).find((list) => list.length > 0) ?? []
    for (const one of listed) {
      const template = readTemplate(one)
      if (template !== null) found.set(`${template.name} ${template.language}`, template)
    }
    next = nextPage(answer.body, listed.length, page * pageSize)
  }
  return { ok: true, templates: [...found.values()] }
}

// Pages are counted by offset; newer answers point to the next one as the official platform's do.
function nextPage({ total, paging }: Loose, listed: number, offset: number): string | null {
  const { next, cursors } = objectOf(paging)
  const after = textOf(objectOf(cursors).after)
  if (textOf(next) !== null && after !== null) return `after=${encodeURIComponent(after)}`
  const isMore = typeof total === 'number' ? listed > 0 && total > offset : listed === pageSize
  return isMore ? `offset=${offset}` : null
}
