import { Type } from 'typebox'
import { unauthorized } from '../../base/errors.ts'
import { isPublicUrl } from '../../base/outgoing/guard.ts'
import { type App, errors } from '../../base/route.ts'
import { makeToken } from '../../base/sealing/secret-token.ts'
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
import type { MediaWay } from '../media-way.ts'
import {
  bytesOf,
  type CallbackDeps,
  callbackParams,
  callbackRoute,
  callbackScope,
  calledConnections,
  type Routed,
  readCallback,
  storeCallback,
} from '../store-callback.ts'
import type { PlatformTemplate } from '../templates/templates.ts'
import { cloudMedia, type Described, type Place } from '../waba/cloud-media.ts'
import { effectOfCode, type Judgement } from '../waba/errors.ts'
import type { Wire } from '../waba/exchange.ts'
import { type Loose, listOf, objectOf, textOf } from '../waba/json.ts'
import { parse } from '../waba/read/parse.ts'
import { readTemplate } from '../waba/templates.ts'
import { isFromPartner, proofHeaders, readProof } from './authenticate.ts'
import { ask, callTo, judgePartner, partnerConnector, profiles } from './call.ts'
import type { NewPartner } from './settings.ts'

/** What partners of the official platform call. */
function partnerWebhookRoutes(app: App, deps: CallbackDeps): void {
  callbackScope(app, (scope) => callback(scope, deps))
}

function callback(scope: App, deps: CallbackDeps): void {
  scope.post(
    '/channels/partner/:connectionId/webhook',
    {
      // Before the body is read: nobody makes us hold 3 MB without so much as a proof.
      onRequest: async (request) => {
        if (readProof(request.headers) === null) throw unproved()
      },
      schema: {
        ...callbackRoute,
        operationId: 'receivePartnerCallback',
        summary: 'Take a callback of a partner',
        description:
          'Shows the header that was named when the address was registered, or is signed over the raw bytes where the connection has a signing secret. 200 means that everything in it is stored.',
        params: callbackParams,
        response: {
          200: Type.Object({ success: Type.Boolean() }, { description: 'Stored, or nothing in it to store.' }),
          ...errors(400, 401, 404, 413, 503),
        },
      },
    },
    async (request) => {
      const { called } = await calledConnections(deps, request, 'partner')
      const body = bytesOf(request)
      const proof = readProof(request.headers)
      if (proof === null || !isFromPartner(called.settings, proof, body)) {
        deps.log.warn('callback refused: proof', { workspaceId: called.workspaceId, connectionId: called.id })
        throw unproved()
      }
      await takePartnerCallback(deps, called, body)
      return { success: true }
    },
  )
}

const unproved = () => unauthorized('The header or signature is missing or not the one of this connection')

/** Takes one callback that is known to be the partner's; resolves once all of it is committed, else throws 503. */
async function takePartnerCallback(deps: CallbackDeps, called: StoredPartner, body: Buffer): Promise<void> {
  const parsed = readCallback(body, deps.clock.now(), parsePartner)
  await storeCallback(deps, called, parsed, routeTo(called, parsed.items))
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
const maxPages = 100

/** Reads all templates of a connection, or none. */
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
  return { numberId, accountId: null, settings: { profile, baseUrl, apiKey, webhookToken: makeToken(), signingSecret } }
}

function change(
  { numberId, accountId, settings }: PartnerConnection,
  to: ConnectionChanges,
): PlatformAccess<PartnerConnection> {
  return {
    numberId: to.numberId ?? numberId,
    accountId,
    settings: {
      ...settings,
      baseUrl: to.baseUrl ?? settings.baseUrl,
      apiKey: to.apiKey ?? settings.apiKey,
      // Whoever is asked to call is told it: not that of one server to another.
      webhookToken: isElsewhere(settings.baseUrl, to.baseUrl) ? makeToken() : settings.webhookToken,
      signingSecret: to.signingSecret === undefined ? settings.signingSecret : to.signingSecret,
    },
  }
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
