import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { createToken, isSameSecret } from '../../base/encryption/secret-token.ts'
import { isPublicUrl } from '../../base/outgoing/guard.ts'
import type { App } from '../../base/route.ts'
import {
  type ChannelAdapter,
  type FetchedNumberFacts,
  type FetchedTemplates,
  last4,
  type NumberCheck,
  noAccessFields,
  type PlatformAccess,
  type PresentedAccess,
} from '../adapter.ts'
import type { ChannelEvent, DeliveredEvent, ParsedCallback } from '../channel-event.ts'
import type { CheckContext } from '../check/adapter-steps.ts'
import { hostOf, judgeCallbackUrl } from '../check/general-steps.ts'
import { type CheckLine, checkLine } from '../check/report.ts'
import type { PartnerConnection, StoredPartner } from '../connection/connection.ts'
import { originOf } from '../connection/registration.ts'
import type { ConnectionChanges } from '../connection/schema.ts'
import { platformReason } from '../health/availability.ts'
import type { MediaTransport } from '../media-transport.ts'
import {
  type CallbackDeps,
  type RoutedEvents,
  registerCallbackRoute,
  registerCallbackScope,
} from '../store-callback.ts'
import { cloudMedia, type HttpTarget, type MediaDescription } from '../waba/cloud-media.ts'
import { type ErrorInterpretation, effectOfCode } from '../waba/errors.ts'
import { type JsonObject, listOf, objectOf, textOf } from '../waba/json.ts'
import { parseHealth } from '../waba/parse/number-status.ts'
import { parseCallback } from '../waba/parse/parse-callback.ts'
import type { PlatformHttp } from '../waba/platform-call.ts'
import { readPages } from '../waba/templates.ts'
import { callPartner, interpretPartnerError, type PartnerAnswer, partnerConnector, profiles, targetOf } from './call.ts'
import type { NewPartner, PartnerSettings } from './settings.ts'

const tokenHeader = 'x-parley-token'

/** Headers that authenticate callbacks: the partner sends the headers that it received when the URL was registered. */
export const proofHeaders = (webhookToken: string) => ({ [tokenHeader]: webhookToken })

const digest = /^(?:sha256=)?([0-9a-f]{64})$/i

/** Credentials in a callback that authenticate the partner. */
interface Proof {
  token: string | null
  signature: Buffer | null
}

/** Reads the credentials of a request; null if there are none. */
function parseProof(headers: IncomingHttpHeaders): Proof | null {
  const token = headerOf(headers[tokenHeader]) ?? passwordOf(headerOf(headers.authorization) ?? '')
  const signature = signatureHeaders.map((name) => digest.exec(headerOf(headers[name]) ?? '')?.[1]).find(Boolean)
  if (token === null && signature === undefined) return null
  return { token, signature: signature === undefined ? null : Buffer.from(signature, 'hex') }
}

/** Returns whether a callback comes from the partner. With a signing secret, the token alone is not enough. */
function isFromPartner(settings: PartnerSettings, { token, signature }: Proof, body: Uint8Array): boolean {
  if (settings.signingSecret === null) return token !== null && isSameSecret(token, settings.webhookToken)
  const expected = createHmac('sha256', settings.signingSecret).update(body).digest()
  return signature !== null && timingSafeEqual(expected, signature)
}

const signatureHeaders = Object.values(profiles).map((profile) => profile.signatureHeader)

// A partner that cannot send custom headers receives a password in the URL and sends it as Basic authentication.
function passwordOf(authorization: string): string | null {
  const basic = /^basic +([\w+/=-]+)$/i.exec(authorization)?.[1]
  if (basic === undefined) return null
  const text = Buffer.from(basic, 'base64').toString('utf8')
  return text.includes(':') ? text.slice(text.indexOf(':') + 1) : null
}

const headerOf = (value: string | string[] | undefined): string | null => (typeof value === 'string' ? value : null)

/** Registers the callback routes for partners of the official platform. */
function partnerWebhookRoutes(app: App, deps: CallbackDeps): void {
  registerCallbackScope(app, (scope) =>
    registerCallbackRoute(scope, deps, {
      channel: 'partner',
      documentation: {
        operationId: 'receivePartnerCallback',
        summary: 'Receive a partner callback',
        description:
          'Authenticated by the header that was set when the URL was registered. If the connection has a signing secret, the raw body must be signed instead. 200 means that everything is stored.',
      },
      proofName: 'proof',
      unauthorizedMessage: 'The header or signature is missing or does not match this connection',
      parseProof,
      isAuthentic: ({ settings }, proof, body) => isFromPartner(settings, proof, body),
      parseCallback: parsePartner,
      route: ({ called }, items) => routeTo(called, items),
    }),
  )
}

// A callback URL and its token belong to one number, so its credentials are valid for that number only.
function routeTo(called: StoredPartner, items: readonly DeliveredEvent[]): RoutedEvents {
  const own = items.filter(({ numberId }) => numberId === null || numberId === called.numberId)
  const events: ChannelEvent[] = own.map(({ event }) => event)
  return {
    deliveries: new Map(events.length === 0 ? [] : [[called, events]]),
    unroutedCount: items.length - own.length,
  }
}

const platform = 'whatsapp_business_account'

/**
 * Parses one callback of a partner. Its body is one of: the official platform's envelope; the partner's own `{ id,
 * event, data }` around one change; the bare lists of the older API. All contain the official platform's items.
 */
function parsePartner(payload: unknown, now: Date): ParsedCallback {
  const whole = objectOf(payload)
  if (whole.object !== undefined) return parseCallback(payload, now)
  const event = textOf(whole.event)
  if (event !== null) return parseCallback(envelope(objectOf(whole.data).id, event, whole.data), now)
  return parseCallback(envelope(null, 'messages', payload), now)
}

const envelope = (id: unknown, field: string, value: unknown) => ({
  object: platform,
  entry: [{ id, changes: [{ field, value }] }],
})

// Other errors may concern only this read: a key can be able to send but not to list templates.
const keyCodes = new Set(['0', '190', 'http_401', 'invalid_api_key'])

const pageSize = 100

function fetchTemplates(http: PlatformHttp, connection: PartnerConnection): Promise<FetchedTemplates> {
  const { templateLists } = profiles[connection.settings.profile]
  return readPages('offset=0', async (place, page) => {
    const answer = await callPartner(http, {
      method: 'GET',
      ...targetOf(connection, 'templatesPath', `?limit=${pageSize}&${place}`),
    })
    if (!answer.ok) return { ok: false, errorCode: answer.errorCode, isDown: keyCodes.has(answer.errorCode) }
    const listed = templateLists.map((name) => listOf(answer.body[name])).find((list) => list.length > 0) ?? []
    return { ok: true, listed, next: nextPage(answer.body, listed.length, page * pageSize) }
  })
}

// Older answers page by offset; newer ones include a cursor like the official platform's.
function nextPage({ total, paging }: JsonObject, listed: number, offset: number): string | null {
  const { next, cursors } = objectOf(paging)
  const after = textOf(objectOf(cursors).after)
  if (textOf(next) !== null && after !== null) return `after=${encodeURIComponent(after)}`
  const isMore = typeof total === 'number' ? listed > 0 && total > offset : listed === pageSize
  return isMore ? `offset=${offset}` : null
}

/** Media of a partner's numbers. Calls only the partner's host, with its key. */
export const partnerMedia = (http: PlatformHttp): MediaTransport<PartnerConnection> =>
  cloudMedia(http, {
    describe: (connection, id) => describe(http, connection, id),
    targetOf: (connection, url) => (URL.canParse(url) ? toOwnHost(connection, new URL(url)) : null),
    uploadTarget: (connection) => targetOf(connection, 'mediaPath'),
    interpretError: interpretPartnerError,
  })

async function describe(http: PlatformHttp, connection: PartnerConnection, id: string): Promise<MediaDescription> {
  const answer = await callPartner(http, { method: 'GET', ...targetBelow(connection, `/${encodeURIComponent(id)}`) })
  if (answer.ok) return answer
  const { errorCode, meaning } = answer
  return { ok: false, errorCode, isDown: meaning.outcome === 'refused' && meaning.effect === 'connection_unavailable' }
}

/** Rewrites the platform's URL, which does not accept the partner's key, to the same path on the partner's host. */
function toOwnHost(connection: PartnerConnection, { protocol, pathname, search }: URL): HttpTarget | null {
  // Paths of other protocols have no leading slash and would extend the host name.
  return protocol === 'https:' || protocol === 'http:' ? targetBelow(connection, pathname + search) : null
}

function targetBelow({ settings: { profile, baseUrl, apiKey } }: PartnerConnection, path: string): HttpTarget {
  return { url: baseUrl + path, headers: { [profiles[profile].keyHeader]: apiKey } }
}

/** Adapter for numbers connected through a partner. `publicUrl`: URL at which the partner reaches this service. */
export const partnerAdapter = (http: PlatformHttp, publicUrl: string): ChannelAdapter<PartnerConnection> => ({
  createAccess,
  changeableFields: ['numberId', 'baseUrl', 'apiKey', 'signingSecret'],
  secretsSent: ['apiKey'],
  changeAccess,
  presentAccess,
  webhookPath,
  verifyToken: () => null,
  checkNumber: (connection) => check(http, connection),
  registerWebhook: (connection) => register(http, publicUrl, connection),
  fetchTemplates: (connection) => fetchTemplates(http, connection),
  fetchNumberFacts: (connection) => fetchNumberFacts(http, connection),
  examine: (connection, context) => examinePartner(http, connection, context),
  connector: partnerConnector(http),
  media: partnerMedia(http),
  effectOfCode,
  callbackRoutes: partnerWebhookRoutes,
})

function createAccess(input: NewPartner): PlatformAccess<PartnerConnection> {
  const { profile, numberId, apiKey, signingSecret = null, baseUrl = profiles[profile].baseUrl } = input
  return {
    numberId,
    accountId: null,
    settings: { profile, baseUrl, apiKey, webhookToken: createToken(), signingSecret },
  }
}

// The caller has rejected fields of other channels.
function changeAccess({ numberId: before, accountId, settings }: PartnerConnection, to: ConnectionChanges) {
  const { numberId = before, ...changed } = to
  // The partner's server receives this token; a different server must not receive the same one.
  const webhookToken = isOtherServer(settings.baseUrl, to.baseUrl) ? createToken() : settings.webhookToken
  return { numberId, accountId, settings: { ...settings, ...changed, webhookToken } }
}

// An invalid URL is rejected later.
const isOtherServer = (before: string, after: string | undefined) =>
  after !== undefined && URL.canParse(after) && originOf(after) !== originOf(before)

function presentAccess({ settings: { profile, baseUrl, apiKey, signingSecret } }: PartnerConnection): PresentedAccess {
  return {
    ...noAccessFields,
    profile,
    baseUrl,
    apiKeyLast4: last4(apiKey),
    signingSecretLast4: signingSecret === null ? null : last4(signingSecret),
  }
}

const webhookPath = ({ id }: Pick<PartnerConnection, 'id'>) => `/channels/partner/${id}/webhook`

async function check(http: PlatformHttp, connection: PartnerConnection): Promise<NumberCheck> {
  const answer = await callPartner(http, { method: 'GET', ...targetOf(connection, 'numberPath') })
  // The partner may not support this endpoint, and has no other name for the number.
  const { numberId } = connection
  if (!answer.ok) return { problem: problemOf(answer), number: numberId, isOnPhone: false }
  // The key decides which number is reserved, not the number id that was entered with it.
  const phone = textOf(answer.body.phone_number)?.replace(/\D/g, '') || null
  return { problem: null, number: phone ?? numberId, isOnPhone: answer.body.is_on_biz_app === true, phone }
}

// Not all partners support this endpoint. Registering the webhook also needs the key and detects a wrong one.
const isUnsupported = ({ errorCode }: ErrorInterpretation): boolean =>
  errorCode === 'http_404' || errorCode === 'http_405'

const problemOf = (answer: ErrorInterpretation): string | null => {
  if (isUnsupported(answer)) return null
  return answer.meaning.outcome === 'refused' ? platformReason(answer.errorCode) : 'unreachable'
}

async function register(http: PlatformHttp, publicUrl: string, connection: PartnerConnection): Promise<string | null> {
  if (!isPublicUrl(publicUrl) && isPublicUrl(connection.settings.baseUrl)) return 'public_url_not_reachable'
  const headers = proofHeaders(connection.settings.webhookToken)
  const body = { url: `${publicUrl}${webhookPath(connection)}`, headers }
  const answer = await callPartner(http, { method: 'POST', ...targetOf(connection, 'webhookPath'), body })
  return answer.ok ? null : 'webhook_not_registered'
}

/** Reads the health check, which the partner passes on; limits and quality arrive as events. */
async function fetchNumberFacts(http: PlatformHttp, connection: PartnerConnection): Promise<FetchedNumberFacts> {
  const answer = await callPartner(http, { method: 'GET', ...targetOf(connection, 'healthPath') })
  if (answer.ok) return { ok: true, facts: parseHealth(objectOf(answer.body.health_status)) }
  return isUnsupported(answer) ? { ok: true, facts: {} } : { ok: false, errorCode: answer.errorCode }
}

type Refused = Extract<PartnerAnswer, { ok: false }>

/** Examines a partner's number: whether the partner accepts the key, and where it sends callbacks. */
async function examinePartner(
  http: PlatformHttp,
  connection: PartnerConnection,
  { callbackUrl }: CheckContext,
): Promise<CheckLine[]> {
  const ask = (path: 'numberPath' | 'webhookPath') =>
    callPartner(http, { method: 'GET', ...targetOf(connection, path) })
  const [number, webhook] = await Promise.all([ask('numberPath'), ask('webhookPath')])
  const url = callbackUrl ?? ''
  return [
    judgeKey(number, webhook),
    judgeWebhook(webhook, url),
    judgeCallbackUrl(url, connection.settings.baseUrl) ?? checkLine('callback', 'callback_public'),
  ]
}

/** Not all partners support the read of the number; the read of the webhook needs the key as well. */
export function judgeKey(number: PartnerAnswer, webhook: PartnerAnswer): CheckLine {
  const answer = !number.ok && isUnsupported(number) ? webhook : number
  if (answer.ok) return checkLine('credentials', 'key_valid')
  return isUnsupported(answer) ? checkLine('credentials', 'key_unconfirmed') : judgeRefusal('credentials', answer)
}

export function judgeWebhook(webhook: PartnerAnswer, ownUrl: string): CheckLine {
  if (!webhook.ok) {
    return isUnsupported(webhook) ? checkLine('webhook', 'callback_unknown') : judgeRefusal('webhook', webhook)
  }
  const url = textOf(webhook.body.url)
  if (url === null) return checkLine('webhook', 'not_subscribed')
  return url === ownUrl
    ? checkLine('webhook', 'subscribed')
    : checkLine('webhook', 'other_callback', { host: hostOf(url) })
}

function judgeRefusal(step: 'credentials' | 'webhook', { errorCode: code, meaning }: Refused): CheckLine {
  if (code === 'rate_limited' || code === 'http_429') return checkLine(step, 'rate_limited', { code })
  if (meaning.outcome === 'unreachable') return checkLine(step, 'unreachable', { code })
  const isKey = meaning.effect === 'connection_unavailable'
  if (!isKey) return checkLine(step, 'platform_error', { code })
  return step === 'credentials' ? checkLine(step, 'key_invalid', { code }) : checkLine(step, 'not_checked')
}
