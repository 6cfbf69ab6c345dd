import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { createToken, isSameSecret } from '../../base/encryption/secret-token.ts'
import { isPublicUrl } from '../../base/outgoing/guard.ts'
import type { App } from '../../base/route.ts'
import {
  type ChannelAdapter,
  type CheckedNumber,
  type FetchedTemplates,
  last4,
  nothingShown,
  type PlatformAccess,
  type ShownAccess,
} from '../adapter.ts'
import type { ChannelEvent, Delivered, Parsed } from '../channel-event.ts'
import type { PartnerConnection, StoredPartner } from '../connection/connection.ts'
import { originOf } from '../connection/registration.ts'
import type { ConnectionChanges } from '../connection/schema.ts'
import { platformReason } from '../health/availability.ts'
import type { MediaWay } from '../media-transport.ts'
import { type CallbackDeps, callbackScope, type Routed, receivingRoute } from '../store-callback.ts'
import { cloudMedia, type Described, type Place } from '../waba/cloud-media.ts'
import { effectOfCode, type Judgement } from '../waba/errors.ts'
import type { Wire } from '../waba/exchange.ts'
import { type Loose, listOf, objectOf, textOf } from '../waba/json.ts'
import { parse } from '../waba/read/parse.ts'
import { readPages } from '../waba/templates.ts'
import { ask, callTo, judgePartner, partnerConnector, profiles } from './call.ts'
import type { NewPartner, PartnerSettings } from './settings.ts'

const tokenHeader = 'x-parley-token'

/** What callbacks show: the partner sends the headers that it was told when the address was registered. */
export const proofHeaders = (webhookToken: string) => ({ [tokenHeader]: webhookToken })

const digest = /^(?:sha256=)?([0-9a-f]{64})$/i

/** What a request shows to prove that it is the partner's. */
interface Proof {
  token: string | null
  signature: Buffer | null
}

/** Reads what a request shows; null when that is nothing of any use. */
function readProof(headers: IncomingHttpHeaders): Proof | null {
  const token = headerOf(headers[tokenHeader]) ?? passwordOf(headerOf(headers.authorization) ?? '')
  const signature = signatureHeaders.map((name) => digest.exec(headerOf(headers[name]) ?? '')?.[1]).find(Boolean)
  if (token === null && signature === undefined) return null
  return { token, signature: signature === undefined ? null : Buffer.from(signature, 'hex') }
}

/** Whether a callback is the partner's. Where it signs, the token alone is not enough. */
function isFromPartner(settings: PartnerSettings, { token, signature }: Proof, body: Uint8Array): boolean {
  if (settings.signingSecret === null) return token !== null && isSameSecret(token, settings.webhookToken)
  const expected = createHmac('sha256', settings.signingSecret).update(body).digest()
  return signature !== null && timingSafeEqual(expected, signature)
}

const signatureHeaders = Object.values(profiles).map((profile) => profile.signatureHeader)

// A partner that knows no headers of ours takes a password within the address.
function passwordOf(authorization: string): string | null {
  const basic = /^basic +([\w+/=-]+)$/i.exec(authorization)?.[1]
  if (basic === undefined) return null
  const text = Buffer.from(basic, 'base64').toString('utf8')
  return text.includes(':') ? text.slice(text.indexOf(':') + 1) : null
}

const headerOf = (value: string | string[] | undefined): string | null => (typeof value === 'string' ? value : null)

/** What partners of the official platform call. */
function partnerWebhookRoutes(app: App, deps: CallbackDeps): void {
  callbackScope(app, (scope) =>
    receivingRoute(scope, deps, {
      channel: 'partner',
      words: {
        operationId: 'receivePartnerCallback',
        summary: 'Take a callback of a partner',
        description:
          'Shows the header that was named when the address was registered, or is signed over the raw bytes where the connection has a signing secret. 200 means that everything in it is stored.',
      },
      proofName: 'proof',
      unproved: 'The header or signature is missing or not the one of this connection',
      readProof,
      isProved: ({ settings }, proof, body) => isFromPartner(settings, proof, body),
      parse: parsePartner,
      route: ({ called }, items) => routeTo(called, items),
    }),
  )
}

// A callback is registered for one number, with a token of its own: what it shows proves nothing for any other.
function routeTo(called: StoredPartner, items: readonly Delivered[]): Routed {
  const own = items.filter(({ numberId }) => numberId === null || numberId === called.numberId)
  const events: ChannelEvent[] = own.map(({ event }) => event)
  return { deliveries: new Map(events.length === 0 ? [] : [[called, events]]), strays: items.length - own.length }
}

const platform = 'whatsapp_business_account'

/**
 * Reads one callback of a partner: the official platform's envelope, the partner's own `{ id, event, data }` around one
 * change, or the bare lists of the older interface. All three hold what the official platform sends.
 */
function parsePartner(payload: unknown, now: Date): Parsed {
  const whole = objectOf(payload)
  if (whole.object !== undefined) return parse(payload, now)
  const event = textOf(whole.event)
  if (event !== null) return parse(envelope(objectOf(whole.data).id, event, whole.data), now)
  return parse(envelope(null, 'messages', payload), now)
}

const envelope = (id: unknown, field: string, value: unknown) => ({
  object: platform,
  entry: [{ id, changes: [{ field, value }] }],
})

// Other refusals may be of the reading alone: a key can send messages and still not list templates.
const keyCodes = new Set(['0', '190', 'http_401', 'invalid_api_key'])

const pageSize = 100

function fetchTemplates(wire: Wire, connection: PartnerConnection): Promise<FetchedTemplates> {
  const { templateLists } = profiles[connection.settings.profile]
  return readPages('offset=0', async (place, page) => {
    const answer = await ask(wire, {
      method: 'GET',
      ...callTo(connection, 'templatesPath', `?limit=${pageSize}&${place}`),
    })
    if (!answer.ok) return { ok: false, errorCode: answer.errorCode, isDown: keyCodes.has(answer.errorCode) }
    const listed = templateLists.map((name) => listOf(answer.body[name])).find((list) => list.length > 0) ?? []
    return { ok: true, listed, next: nextPage(answer.body, listed.length, page * pageSize) }
  })
}

// Pages are counted by offset; newer answers point to the next one as the official platform's do.
function nextPage({ total, paging }: Loose, listed: number, offset: number): string | null {
  const { next, cursors } = objectOf(paging)
  const after = textOf(objectOf(cursors).after)
  if (textOf(next) !== null && after !== null) return `after=${encodeURIComponent(after)}`
  const isMore = typeof total === 'number' ? listed > 0 && total > offset : listed === pageSize
  return isMore ? `offset=${offset}` : null
}

/** Files of a partner's numbers: by its host and with its key alone. */
export const partnerMedia = (wire: Wire): MediaWay<PartnerConnection> =>
  cloudMedia(wire, {
    describe: (connection, id) => describe(wire, connection, id),
    placeOf: (connection, url) => (URL.canParse(url) ? onOwnHost(connection, new URL(url)) : null),
    uploadTo: (connection) => callTo(connection, 'mediaPath'),
    judge: judgePartner,
  })

async function describe(wire: Wire, connection: PartnerConnection, id: string): Promise<Described> {
  const answer = await ask(wire, { method: 'GET', ...below(connection, `/${encodeURIComponent(id)}`) })
  if (answer.ok) return answer
  const { errorCode, meaning } = answer
  return { ok: false, errorCode, isDown: meaning.outcome === 'refused' && meaning.effect === 'connection_unavailable' }
}

/** The partner names the platform's address, which takes no key of the partner's: its own host has the same path. */
function onOwnHost(connection: PartnerConnection, { protocol, pathname, search }: URL): Place | null {
  // The path of any other begins with no slash, so that it would lengthen the name of the host.
  return protocol === 'https:' || protocol === 'http:' ? below(connection, pathname + search) : null
}

function below({ settings: { profile, baseUrl, apiKey } }: PartnerConnection, path: string): Place {
  return { url: baseUrl + path, headers: { [profiles[profile].keyHeader]: apiKey } }
}

/** Numbers that a partner of the official platform connects. `publicUrl` is where it reaches this service. */
export const partnerAdapter = (wire: Wire, publicUrl: string): ChannelAdapter<PartnerConnection> => ({
  begin,
  changes: ['numberId', 'baseUrl', 'apiKey', 'signingSecret'],
  secretsSent: ['apiKey'],
  change,
  show,
  webhookPath,
  verifyToken: () => null,
  check: (connection) => check(wire, connection),
  register: (connection) => register(wire, publicUrl, connection),
  fetchTemplates: (connection) => fetchTemplates(wire, connection),
  connector: partnerConnector(wire),
  media: partnerMedia(wire),
  effectOfCode,
  callbackRoutes: partnerWebhookRoutes,
})

function begin(input: NewPartner): PlatformAccess<PartnerConnection> {
  const { profile, numberId, apiKey, signingSecret = null, baseUrl = profiles[profile].baseUrl } = input
  return {
    numberId,
    accountId: null,
    settings: { profile, baseUrl, apiKey, webhookToken: createToken(), signingSecret },
  }
}

// Only what the channel has comes here.
function change({ numberId: before, accountId, settings }: PartnerConnection, to: ConnectionChanges) {
  const { numberId = before, ...changed } = to
  // Whoever is asked to call is told it: not that of one server to another.
  const webhookToken = isElsewhere(settings.baseUrl, to.baseUrl) ? createToken() : settings.webhookToken
  return { numberId, accountId, settings: { ...settings, ...changed, webhookToken } }
}

// An address that is none is refused later.
const isElsewhere = (before: string, after: string | undefined) =>
  after !== undefined && URL.canParse(after) && originOf(after) !== originOf(before)

function show({ settings: { profile, baseUrl, apiKey, signingSecret } }: PartnerConnection): ShownAccess {
  return {
    ...nothingShown,
    profile,
    baseUrl,
    apiKeyLast4: last4(apiKey),
    signingSecretLast4: signingSecret === null ? null : last4(signingSecret),
  }
}

const webhookPath = ({ id }: Pick<PartnerConnection, 'id'>) => `/channels/partner/${id}/webhook`

async function check(wire: Wire, connection: PartnerConnection): Promise<CheckedNumber> {
  const answer = await ask(wire, { method: 'GET', ...callTo(connection, 'numberPath') })
  // A partner that does not know the question has no other name for the number.
  const { numberId } = connection
  if (!answer.ok) return { problem: problemOf(answer), number: numberId, isOnPhone: false }
  // Whose key it is counts, not which number was named with it.
  const phone = textOf(answer.body.phone_number)?.replace(/\D/g, '') || null
  return { problem: null, number: phone ?? numberId, isOnPhone: answer.body.is_on_biz_app === true, phone }
}

// Not every partner that speaks this language knows the question. Its address for callbacks needs the key as well.
const unknownQuestion = new Set(['http_404', 'http_405'])

const problemOf = ({ errorCode, meaning }: Judgement): string | null => {
  if (unknownQuestion.has(errorCode)) return null
  return meaning.outcome === 'refused' ? platformReason(errorCode) : 'unreachable'
}

async function register(wire: Wire, publicUrl: string, connection: PartnerConnection): Promise<string | null> {
  if (!isPublicUrl(publicUrl) && isPublicUrl(connection.settings.baseUrl)) return 'public_url_not_reachable'
  const headers = proofHeaders(connection.settings.webhookToken)
  const body = { url: `${publicUrl}${webhookPath(connection)}`, headers }
  const answer = await ask(wire, { method: 'POST', ...callTo(connection, 'webhookPath'), body })
  return answer.ok ? null : 'webhook_not_registered'
}
