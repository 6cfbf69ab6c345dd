import { badRequest, conflict, unprocessable } from '../../base/errors.ts'
import type { Outgoing } from '../../base/outgoing/guarded-fetch.ts'
import type { WabaConnection } from '../../channels/connection/connection.ts'
import { findConnection } from '../../channels/connection/queries.ts'
import { type JsonObject, listOf, objectOf, tokenOf } from '../../channels/waba/json.ts'
import { fetchGraph } from '../../channels/waba/platform-call.ts'
import type { LeadDeps } from '../lead/lead.ts'
import { createTouch, type Touch } from './attribution.ts'
import { storeRequests } from './requests.ts'
import type { LeadSource } from './source.ts'

export interface LeadAdDeps extends LeadDeps {
  outgoing: Outgoing
}

const maxChanges = 1000

/** Returns the ids of leads in a callback of the platform, for the page and the forms of a source. */
export function parseLeadgen(payload: unknown, { pageId, formIds }: LeadSource['settings']): string[] {
  const { object, entry } = objectOf(payload)
  if (object !== 'page') return []
  const changes = listOf(entry)
    .slice(0, maxChanges)
    .flatMap((one) => listOf(objectOf(one).changes).slice(0, maxChanges))
    .map(objectOf)
    .filter(({ field }) => field === 'leadgen')
    .slice(0, maxChanges)
    .map(({ value }) => objectOf(value))
  const ids = changes
    .filter((value) => pageId === null || tokenOf(value.page_id) === pageId)
    .filter((value) => formIds.length === 0 || formIds.includes(tokenOf(value.form_id) ?? ''))
    .map((value) => idOf(value.leadgen_id))
  return [...new Set(ids.filter((id) => id !== null))]
}

/** Ids of the platform become parts of addresses. */
const idOf = (value: unknown): string | null => {
  const id = tokenOf(value)
  return id !== null && /^\d{1,30}$/.test(id) ? id : null
}

export const leadAdIdentity = (leadId: string): string => `leadgen ${leadId}`

/** Returns the connection of a source; null if it was removed. */
export async function openLeadAdConnection(
  { db, keyStore }: LeadDeps,
  workspaceId: string,
  { settings: { connectionId } }: LeadSource,
): Promise<WabaConnection | null> {
  if (connectionId === null) return null
  const keyring = await keyStore.keyring(workspaceId)
  const connection = await findConnection(db.sql, keyring, workspaceId, connectionId)
  return connection?.channel === 'waba' ? connection : null
}

const basicFields = 'id,created_time,form_id,field_data'
const adFields = 'ad_id,ad_name,adset_name,campaign_name,platform'
/** The token may read leads, but not the ads that brought them. */
const forbiddenCodes = ['10', '100', '200', '294']

/** Outages and rate limits of the platform. */
const passingCodes = ['1', '2', '4', '17', '32', '341', '613', '80005']

/** Reads a lead, or leads, from the platform; without the ad's names if the token may not read them. */
async function readGraph(deps: LeadAdDeps, { settings }: WabaConnection, path: string) {
  const separator = path.includes('?') ? '&' : '?'
  const read = (fields: string) => fetchGraph(deps, settings, `${path}${separator}fields=${fields}`)
  const whole = await read(`${basicFields},${adFields}`)
  return whole.ok || !forbiddenCodes.includes(whole.errorCode) ? whole : read(basicFields)
}

/** Reads one lead. Returns the platform's error code if it refuses. */
export async function readLeadAd(
  deps: LeadAdDeps,
  connection: WabaConnection,
  leadId: string,
): Promise<{ lead: JsonObject } | { errorCode: string; isRefused: boolean }> {
  const answer = await readGraph(deps, connection, leadId)
  if (answer.ok) return { lead: answer.body }
  const isRefused = /^\d+$/.test(answer.errorCode) && !passingCodes.includes(answer.errorCode)
  return { errorCode: answer.errorCode, isRefused }
}

/** Returns the answers of a lead by the names of their questions, which the paths of the mapping are. */
export const answersOf = (lead: object): Record<string, string> =>
  Object.fromEntries(
    listOf(objectOf(lead).field_data)
      .slice(0, 200)
      .map(objectOf)
      .flatMap(({ name, values }) => {
        const answers = listOf(values)
          .slice(0, 50)
          .flatMap((one) => tokenOf(one) ?? [])
        return typeof name === 'string' && answers.length > 0 ? [[name.slice(0, 200), answers.join(', ')]] : []
      }),
  )

export function touchOfLeadAd(lead: object, receivedAt: Date): Touch {
  const { created_time, platform, campaign_name, ad_id, ad_name, adset_name, form_id } = objectOf(lead)
  const time = new Date(typeof created_time === 'string' ? created_time.slice(0, 40) : Number.NaN)
  const at = Number.isNaN(time.getTime()) || time > receivedAt ? receivedAt : time
  return createTouch('lead_ad', at, {
    ...{ source: platform, campaign: campaign_name, adName: ad_name, adSet: adset_name },
    ...{ adId: tokenOf(ad_id), formId: tokenOf(form_id) },
  })
}

const pageLength = 100
const maxPages = 5

export interface BackFill {
  found: number
  added: number
  /** Where the next call continues; null at the end. */
  after: string | null
}

/** Fetches the leads that a form already has, 500 at a time. Throws 409 without its connection and 422 if it is refused. */
export async function backFill(
  deps: LeadAdDeps,
  workspaceId: string,
  source: LeadSource,
  { formId, after }: { formId: string; after: string | null },
): Promise<BackFill> {
  if (source.kind !== 'lead_ads') throw badRequest('Only lead ads have forms to read from')
  const connection = await openLeadAdConnection(deps, workspaceId, source)
  if (connection === null) throw conflict('The connection of this source was removed. Choose another.')
  const result: BackFill = { found: 0, added: 0, after }
  for (let page = 0; page < maxPages; page++) {
    const from = result.after === null ? '' : `&after=${encodeURIComponent(result.after)}`
    const answer = await readGraph(deps, connection, `${formId}/leads?limit=${pageLength}${from}`)
    if (!answer.ok) {
      throw unprocessable(
        `The platform refused to list the leads of this form (${answer.errorCode}). Check the form id, and that the token has leads_retrieval and access to the page.`,
      )
    }
    const leads = listOf(answer.body.data).slice(0, pageLength).map(objectOf)
    const received = leads.flatMap((lead) => {
      const leadId = idOf(lead.id)
      if (leadId === null) return []
      return { identity: leadAdIdentity(leadId), content: { kind: 'lead_ad' as const, leadId, lead } }
    })
    const now = deps.clock.now()
    const added = await deps.keyStore.withKeyring(workspaceId, (keyring) =>
      deps.db.tx((tx) => storeRequests({ tx, keyring, workspaceId, now }, source.id, received)),
    )
    const paging = objectOf(answer.body.paging)
    const next = tokenOf(objectOf(paging.cursors).after)
    result.found += received.length
    result.added += added
    result.after = paging.next === undefined || next === result.after ? null : next
    if (result.after === null) break
  }
  return result
}
