import { createToken } from '../../base/encryption/secret-token.ts'
import { parsePhone } from '../../base/phone/phone.ts'
import {
  type ChannelAdapter,
  type FetchedNumberFacts,
  type FetchedTemplates,
  last4,
  noAccessFields,
  type PlatformAccess,
  type PresentedAccess,
} from '../adapter.ts'
import type { WabaConnection } from '../connection/connection.ts'
import type { ConnectionChanges } from '../connection/schema.ts'
import { platformReason } from '../health/availability.ts'
import type { MediaTransport } from '../media-transport.ts'
import { cloudMedia } from './cloud-media.ts'
import { effectOfCode, interpretError } from './errors.ts'
import { textOf } from './json.ts'
import { parseNumberFacts } from './parse/number-status.ts'
import { bearer, fetchGraph, type PlatformHttp } from './platform-call.ts'
import { wabaConnector } from './sender.ts'
import { currentVersion, type NewWaba, versionEndDate } from './settings.ts'
import { examineWaba } from './setup/examine.ts'
import { isOnPhone } from './setup/judge-number.ts'
import { wabaSetup } from './setup/number-setup.ts'
import { wabaTemplates } from './template-calls.ts'
import { fetchTemplates } from './templates.ts'
import { wabaWebhookRoutes } from './webhook-routes.ts'

const graphUrl = 'https://graph.facebook.com'

/** Adapter for numbers of the official platform. */
export const wabaAdapter = (http: PlatformHttp): ChannelAdapter<WabaConnection> => ({
  createAccess,
  changeableFields: ['numberId', 'accountId', 'appId', 'baseUrl', 'version', 'accessToken', 'appSecret', 'verifyToken'],
  secretsSent: ['accessToken'],
  changeAccess,
  presentAccess,
  webhookPath: ({ id }) => `/channels/waba/${id}/webhook`,
  verifyToken: ({ settings }) => settings.verifyToken,
  checkNumber: (connection) => check(http, connection),
  fetchTemplates: (connection) => fetchAll(http, connection),
  templates: wabaTemplates(http),
  fetchNumberFacts: (connection) => fetchNumberFacts(http, connection),
  examine: (connection, context) => examineWaba(http, connection, context),
  setup: wabaSetup(http),
  connector: wabaConnector(http),
  media: wabaMedia(http),
  effectOfCode,
  callbackRoutes: wabaWebhookRoutes,
})

function createAccess(input: NewWaba, id: string): PlatformAccess<WabaConnection> {
  const { numberId = id, accountId = null, appId = null, accessToken, appSecret } = input
  const { baseUrl = graphUrl, version = currentVersion, verifyToken = createToken() } = input
  return { numberId, accountId, settings: { baseUrl, version, accessToken, appSecret, verifyToken, appId } }
}

// The caller has rejected fields of other channels.
function changeAccess(
  one: WabaConnection,
  { numberId = one.numberId, accountId = one.accountId, ...to }: ConnectionChanges,
) {
  return { numberId, accountId, settings: { ...one.settings, ...to } }
}

function presentAccess({ settings }: WabaConnection): PresentedAccess {
  const { baseUrl, version, accessToken, appSecret, appId = null } = settings
  return {
    ...noAccessFields,
    appId,
    baseUrl,
    version,
    versionEndsOn: versionEndDate(version),
    accessTokenLast4: last4(accessToken),
    appSecretLast4: last4(appSecret),
  }
}

const checkedFields = 'id,display_phone_number,verified_name,quality_rating,is_on_biz_app,platform_type'

async function check(http: PlatformHttp, { numberId, settings }: WabaConnection) {
  const answer = await fetchGraph(http, settings, `${encodeURIComponent(numberId)}?fields=${checkedFields}`)
  if (!answer.ok) return { problem: problemOf(answer.errorCode), number: null, isOnPhone: false }
  const phone = parsePhone(textOf(answer.body.display_phone_number) ?? '')
  return { problem: null, number: numberId, isOnPhone: isOnPhone(answer.body), phone }
}

const factFields = 'quality_rating,throughput,name_status,health_status'
/** Fields with the messaging limit, newest first: an API version without the first one refuses the whole read. */
const limitFields = ['whatsapp_business_manager_messaging_limit', 'messaging_limit_tier']
const unknownField = '100'

async function fetchNumberFacts(
  http: PlatformHttp,
  { numberId, settings }: WabaConnection,
): Promise<FetchedNumberFacts> {
  let errorCode = unknownField
  for (const limitField of limitFields) {
    const path = `${encodeURIComponent(numberId)}?fields=${factFields},${limitField}`
    const answer = await fetchGraph(http, settings, path)
    if (answer.ok) return { ok: true, facts: parseNumberFacts(answer.body) }
    errorCode = answer.errorCode
    if (errorCode !== unknownField) break
  }
  return { ok: false, errorCode }
}

/** Fetches the templates and, if any are for marketing, whether the account has a separate endpoint for them. */
async function fetchAll(http: PlatformHttp, connection: WabaConnection): Promise<FetchedTemplates> {
  const fetched = await fetchTemplates(http, connection)
  const hasMarketing = fetched.ok && fetched.templates.some(({ category }) => category.toUpperCase() === 'MARKETING')
  if (!hasMarketing || connection.accountId === null) return fetched
  const path = `${encodeURIComponent(connection.accountId)}?fields=marketing_messages_onboarding_status`
  const answer = await fetchGraph(http, connection.settings, path)
  const status = answer.ok ? textOf(answer.body.marketing_messages_onboarding_status) : null
  return status === null ? fetched : { ...fetched, sendsMarketing: status.toUpperCase() === 'ONBOARDED' }
}

/** Returns the `stateReason` for a platform error code or a failed call. */
const problemOf = (errorCode: string): string => (/^\d+$/.test(errorCode) ? platformReason(errorCode) : 'unreachable')

/** Media of the official platform. */
export const wabaMedia = (http: PlatformHttp): MediaTransport<WabaConnection> =>
  cloudMedia(http, {
    describe: ({ settings }, id) => fetchGraph(http, settings, encodeURIComponent(id)),
    targetOf: ({ settings: { baseUrl, accessToken } }, url) => {
      if (!URL.canParse(url)) return null
      return { url, headers: isOfPlatform(baseUrl, url) ? bearer(accessToken) : {} }
    },
    uploadTarget: ({ settings, numberId }) => ({
      url: `${settings.baseUrl}/${settings.version}/${encodeURIComponent(numberId)}/media`,
      headers: bearer(settings.accessToken),
    }),
    interpretError,
  })

const officialHost = 'graph.facebook.com'
/** Domains on which the platform stores files; it owns all their subdomains. */
const officialDomains = ['facebook.com', 'fbsbx.com', 'whatsapp.net']

/**
 * Returns whether a URL returned by the platform may receive the access token. The token grants everything the number
 * can do, so it is sent only to the origin it was entered for and, for the official platform, to the official domains.
 * Other URLs are fetched without it.
 */
export function isOfPlatform(baseUrl: string, url: string): boolean {
  const [base, target] = [new URL(baseUrl), new URL(url)]
  if (target.origin === base.origin) return true
  if (base.protocol !== 'https:' || base.hostname !== officialHost) return false
  const { protocol, hostname, port } = target
  const isOfficial = officialDomains.some((domain) => hostname === domain || hostname.endsWith(`.${domain}`))
  return protocol === 'https:' && port === '' && isOfficial
}
