import type { WabaConnection } from '../connection/connection.ts'
import type { FetchedTemplates } from '../driver.ts'
import type { PlatformTemplate } from '../templates/template.ts'
import type { Wire } from './exchange.ts'
import { fetchGraph } from './graph.ts'
import { listOf, objectOf, textOf } from './json.ts'
import { readTemplate } from './read-template.ts'

/** Reads all templates of a connection's account, or none. */
export type FetchTemplates = (connection: WabaConnection) => Promise<FetchedTemplates>

const fields = 'id,name,language,status,category,parameter_format,components'
const pageSize = 100
const maxPages = 100

export function fetchTemplatesAt(wire: Wire): FetchTemplates {
  return async (connection) => {
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
}

// There is a cursor on the last page as well; only `next` says that there is more. It holds the token: not followed.
function nextCursor(paging: unknown): string | null {
  const { next, cursors } = objectOf(paging)
  return textOf(next) === null ? null : textOf(objectOf(cursors).after)
}
