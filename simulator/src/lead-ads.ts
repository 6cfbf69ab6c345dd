import { createHmac } from 'node:crypto'
import { Type } from 'typebox'
import type { App } from '../../server/src/base/route.ts'
import { numberFor } from './control-routes.ts'
import { closedObject } from './control-schema.ts'
import { bearerOf, type ObjectRequest, root, tokenOf } from './graph/authorize.ts'
import { unknownObject } from './graph/graph-error.ts'
import type { Platform } from './platform.ts'
import { randomDigits } from './wamid.ts'

/** A person who filled in a form of an ad. */
export interface AdLead {
  id: string
  formId: string
  createdAt: Date
  answers: Record<string, string>
}

const maxLeads = 1000
const [pageId, adId] = ['108090108090', '120210120210']
const timeoutMs = 10_000

const text = (maxLength: number) => Type.String({ minLength: 1, maxLength })
const newLead = closedObject({
  callbackUrl: Type.Optional(
    Type.String({
      format: 'uri',
      maxLength: 2000,
      description: 'URL of the lead source; without it, nothing is announced',
    }),
  ),
  numberId: Type.Optional(text(40)),
  formId: Type.Optional(Type.String({ pattern: '^[0-9]{1,30}$', maxLength: 30, default: '7007' })),
  answers: Type.Optional(
    Type.Record(Type.String({ maxLength: 100 }), text(500), {
      maxProperties: 50,
      description: 'By the names of the questions; Marina Duarte by default',
    }),
  ),
})

/** Adds the control that fills in the form of a lead ad, and announces it as the platform does. */
export function leadAdRoutes(app: App, platform: Platform): void {
  const { adLeads } = platform
  const schema = { tags: ['Customers'], summary: 'Fill in the form of a lead ad', body: newLead }
  app.post('/simulator/lead-ads', { schema }, async ({ body }) => {
    const { callbackUrl, numberId, formId = '7007', answers = defaultAnswers() } = body
    const lead = { id: randomDigits(15), formId, createdAt: platform.clock.now(), answers }
    adLeads.set(lead.id, lead)
    if (adLeads.size > maxLeads) adLeads.delete(adLeads.keys().next().value ?? '')
    const { appSecret } = numberFor(platform, numberId)
    const status = callbackUrl === undefined ? null : await announce(lead, callbackUrl, appSecret)
    return { leadgenId: lead.id, formId, status }
  })
}

/** Adds the list of a form's leads to the platform's API. */
export function adLeadListRoute(graph: App, platform: Platform): void {
  graph.get(`${root}/leads`, { schema: { hide: true } }, (request: ObjectRequest) => {
    bearerOf(platform, tokenOf(request))
    const { objectId } = request.params
    const ofForm = [...platform.adLeads.values()].filter((lead) => lead.formId === objectId)
    if (ofForm.length === 0) throw unknownObject(objectId)
    const start = Number(request.query.after ?? 0) || 0
    const end = start + Math.min(Number(request.query.limit ?? 25) || 25, 100)
    const cursors = { before: String(start), after: String(end) }
    const next = end < ofForm.length ? { next: `${request.protocol}://${request.host}${request.url}` } : {}
    return { data: ofForm.slice(start, end).map(describeAdLead), paging: { cursors, ...next } }
  })
}

const defaultAnswers = () => ({
  full_name: 'Marina Duarte',
  phone_number: `+55819${randomDigits(8)}`,
  email: 'marina@example.com',
})

/** Returns a lead as the platform shows it. */
export const describeAdLead = ({ id, formId, createdAt, answers }: AdLead) => ({
  id,
  created_time: `${createdAt.toISOString().slice(0, 19)}+0000`,
  ...{ form_id: formId, ad_id: adId, ad_name: 'Spring kitchens', adset_name: 'Recife', campaign_name: 'Spring' },
  ...{ platform: 'ig', is_organic: false },
  field_data: Object.entries(answers).map(([name, value]) => ({ name, values: [value] })),
})

/** Posts the callback once, signed by the app. Returns the status; null if nothing answered. */
async function announce({ id, formId, createdAt }: AdLead, url: string, appSecret: string): Promise<number | null> {
  const time = Math.floor(createdAt.getTime() / 1000)
  const value = { leadgen_id: id, page_id: pageId, form_id: formId, ad_id: adId, created_time: time }
  const body = JSON.stringify({ object: 'page', entry: [{ id: pageId, time, changes: [{ field: 'leadgen', value }] }] })
  const signature = createHmac('sha256', appSecret).update(body).digest('hex')
  const headers = { 'content-type': 'application/json', 'x-hub-signature-256': `sha256=${signature}` }
  try {
    const signal = AbortSignal.timeout(timeoutMs)
    const answer = await fetch(url, { method: 'POST', redirect: 'manual', signal, headers, body })
    await answer.body?.cancel()
    return answer.status
  } catch {
    return null
  }
}
