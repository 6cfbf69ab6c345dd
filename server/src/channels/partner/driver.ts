import { isPublicUrl } from '../../base/outgoing/guard.ts'
import { platformReason } from '../apply-platform-signal.ts'
import type { PartnerConnection } from '../connection/connection.ts'
import type { Driver, FetchedTemplates } from '../driver.ts'
import type { PlatformTemplate } from '../templates/template.ts'
import type { Judgement } from '../waba/errors.ts'
import type { Wire } from '../waba/exchange.ts'
import { type Loose, listOf, objectOf, textOf } from '../waba/json.ts'
import { readTemplate } from '../waba/read-template.ts'
import { proofHeaders } from './authenticate.ts'
import { ask, callTo } from './call.ts'
import { partnerKind } from './kind.ts'
import { profiles } from './profile.ts'

/** `publicUrl` is where the partner reaches this service, without a trailing slash. */
export function partnerDriver(wire: Wire, publicUrl: string): Driver<PartnerConnection> {
  return {
    check: async (connection) => {
      const answer = await ask(wire, { method: 'GET', ...callTo(connection, 'numberPath') })
      // A partner that does not know the question has no other name for the number.
      const { numberId } = connection
      if (!answer.ok) return { problem: problemOf(answer), number: numberId, isOnPhone: false }
      // Whose key it is counts, not which number was named with it.
      const number = textOf(answer.body.phone_number)?.replace(/\D/g, '') || numberId
      return { problem: null, number, isOnPhone: answer.body.is_on_biz_app === true }
    },
    register: async (connection) => {
      if (!isPublicUrl(publicUrl) && isPublicUrl(connection.settings.baseUrl)) return 'public_url_not_reachable'
      const headers = proofHeaders(connection.settings.webhookToken)
      const body = { url: `${publicUrl}${partnerKind.webhookPath(connection)}`, headers }
      const answer = await ask(wire, { method: 'POST', ...callTo(connection, 'webhookPath'), body })
      return answer.ok ? null : 'webhook_not_registered'
    },
    fetchTemplates: (connection) => fetchTemplates(wire, connection),
  }
}

// Not every partner that speaks this language knows the question. Its address for callbacks needs the key as well.
const unknownQuestion = new Set(['http_404', 'http_405'])

const problemOf = ({ errorCode, meaning }: Judgement): string | null => {
  if (unknownQuestion.has(errorCode)) return null
  return meaning.outcome === 'refused' ? platformReason(errorCode) : 'unreachable'
}

// Other refusals may be of the reading alone: a key can send messages and still not list templates.
const keyCodes = new Set(['0', '190', 'http_401', 'invalid_api_key'])

const pageSize = 100
const maxPages = 100

async function fetchTemplates(wire: Wire, connection: PartnerConnection): Promise<FetchedTemplates> {
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
