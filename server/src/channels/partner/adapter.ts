import { isPublicUrl } from '../../base/outgoing/guard.ts'
import { makeToken } from '../../base/sealing/secret-token.ts'
import {
  type ChannelAdapter,
  type CheckedNumber,
  last4,
  nothingShown,
  type PlatformAccess,
  type ShownAccess,
} from '../adapter.ts'
import type { PartnerConnection } from '../connection/connection.ts'
import { originOf } from '../connection/reservation.ts'
import type { ConnectionChanges } from '../connection/schema.ts'
import { platformReason } from '../health/availability.ts'
import { effectOfCode, type Judgement } from '../waba/errors.ts'
import type { Wire } from '../waba/exchange.ts'
import { textOf } from '../waba/json.ts'
import { proofHeaders } from './authenticate.ts'
import { ask, callTo, partnerConnector } from './call.ts'
import { partnerMedia } from './media.ts'
import { profiles } from './profile.ts'
import type { NewPartner } from './settings.ts'
import { fetchTemplates } from './templates.ts'
import { partnerWebhookRoutes } from './webhook-routes.ts'

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
