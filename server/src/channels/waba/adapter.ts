import { createToken } from '../../base/encryption/secret-token.ts'
import { readPhone } from '../../base/phone/phone.ts'
import {
  type ChannelAdapter,
  type FetchedTemplates,
  last4,
  nothingShown,
  type PlatformAccess,
  type ShownAccess,
} from '../adapter.ts'
import type { WabaConnection } from '../connection/connection.ts'
import type { ConnectionChanges } from '../connection/schema.ts'
import { platformReason } from '../health/availability.ts'
import type { MediaWay } from '../media-transport.ts'
import { cloudMedia } from './cloud-media.ts'
import { effectOfCode, judge } from './errors.ts'
import { bearer, fetchGraph, type Wire } from './exchange.ts'
import { objectOf, textOf } from './json.ts'
import { wabaConnector } from './sender.ts'
import { currentVersion, endOfVersion, type NewWaba } from './settings.ts'
import { fetchTemplates } from './templates.ts'
import { wabaWebhookRoutes } from './webhook-routes.ts'

const graphUrl = 'https://graph.facebook.com'

/** Adapter for numbers of the official platform. */
export const wabaAdapter = (wire: Wire): ChannelAdapter<WabaConnection> => ({
  begin,
  changes: ['numberId', 'accountId', 'baseUrl', 'version', 'accessToken', 'appSecret', 'verifyToken'],
  secretsSent: ['accessToken'],
  change,
  show,
  webhookPath: ({ id }) => `/channels/waba/${id}/webhook`,
  verifyToken: ({ settings }) => settings.verifyToken,
  check: (connection) => check(wire, connection),
  fetchTemplates: (connection) => fetchAll(wire, connection),
  connector: wabaConnector(wire),
  media: wabaMedia(wire),
  effectOfCode,
  callbackRoutes: wabaWebhookRoutes,
})

function begin(input: NewWaba): PlatformAccess<WabaConnection> {
  const { numberId, accountId = null, accessToken, appSecret } = input
  const { baseUrl = graphUrl, version = currentVersion, verifyToken = createToken() } = input
  return { numberId, accountId, settings: { baseUrl, version, accessToken, appSecret, verifyToken } }
}

// The caller has rejected fields of other channels.
function change(one: WabaConnection, { numberId = one.numberId, accountId = one.accountId, ...to }: ConnectionChanges) {
  return { numberId, accountId, settings: { ...one.settings, ...to } }
}

function show({ settings: { baseUrl, version, accessToken, appSecret } }: WabaConnection): ShownAccess {
  return {
    ...nothingShown,
    baseUrl,
    version,
    versionEndsOn: endOfVersion(version),
    accessTokenLast4: last4(accessToken),
    appSecretLast4: last4(appSecret),
  }
}

const checkedFields = 'id,display_phone_number,verified_name,quality_rating,is_on_biz_app,platform_type'

async function check(wire: Wire, { numberId, settings }: WabaConnection) {
  const answer = await fetchGraph(wire, settings, `${encodeURIComponent(numberId)}?fields=${checkedFields}`)
  if (!answer.ok) return { problem: problemOf(answer.errorCode), number: null, isOnPhone: false }
  const { is_on_biz_app, platform_type, display_phone_number } = objectOf(answer.body)
  const isOnPhone = is_on_biz_app === true && platform_type === 'CLOUD_API'
  return { problem: null, number: numberId, isOnPhone, phone: readPhone(textOf(display_phone_number) ?? '') }
}

/** Fetches the templates and, if any are for marketing, whether the account has a separate endpoint for them. */
async function fetchAll(wire: Wire, connection: WabaConnection): Promise<FetchedTemplates> {
  const fetched = await fetchTemplates(wire, connection)
  const hasMarketing = fetched.ok && fetched.templates.some(({ category }) => category.toUpperCase() === 'MARKETING')
  if (!hasMarketing || connection.accountId === null) return fetched
  const path = `${encodeURIComponent(connection.accountId)}?fields=marketing_messages_onboarding_status`
  const answer = await fetchGraph(wire, connection.settings, path)
  const status = answer.ok ? textOf(answer.body.marketing_messages_onboarding_status) : null
  return status === null ? fetched : { ...fetched, sendsMarketing: status.toUpperCase() === 'ONBOARDED' }
}

/** Returns the `stateReason` for a platform error code or a failed call. */
const problemOf = (errorCode: string): string => (/^\d+$/.test(errorCode) ? platformReason(errorCode) : 'unreachable')

/** Media of the official platform. */
export const wabaMedia = (wire: Wire): MediaWay<WabaConnection> =>
  cloudMedia(wire, {
    describe: ({ settings }, id) => fetchGraph(wire, settings, encodeURIComponent(id)),
    placeOf: ({ settings: { baseUrl, accessToken } }, url) => {
      if (!URL.canParse(url)) return null
      return { url, headers: isOfPlatform(baseUrl, url) ? bearer(accessToken) : {} }
    },
    uploadTo: ({ settings, numberId }) => ({
      url: `${settings.baseUrl}/${settings.version}/${encodeURIComponent(numberId)}/media`,
      headers: bearer(settings.accessToken),
    }),
    judge,
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
  const [base, place] = [new URL(baseUrl), new URL(url)]
  if (place.origin === base.origin) return true
  if (base.protocol !== 'https:' || base.hostname !== officialHost) return false
  const { protocol, hostname, port } = place
  const isOfficial = officialDomains.some((domain) => hostname === domain || hostname.endsWith(`.${domain}`))
  return protocol === 'https:' && port === '' && isOfficial
}
