import { makeToken } from '../../base/sealing/secret-token.ts'
import type { PartnerConnection } from '../connection/connection.ts'
import { last4 } from '../connection/last4.ts'
import { originOf } from '../connection/reservation.ts'
import { type Kind, nothingShown } from '../kind.ts'
import { profiles } from './profile.ts'

export const partnerKind: Kind<PartnerConnection> = {
  hasTemplates: true,
  begin: ({ profile, numberId, apiKey, signingSecret, baseUrl }) => ({
    numberId,
    accountId: null,
    settings: {
      profile,
      baseUrl: baseUrl ?? profiles[profile].baseUrl,
      apiKey,
      webhookToken: makeToken(),
      signingSecret: signingSecret ?? null,
    },
  }),
  changes: ['numberId', 'baseUrl', 'apiKey', 'signingSecret'],
  secretsSent: ['apiKey'],
  change: ({ numberId, accountId, settings }, to) => ({
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
  }),
  show: ({ settings: { profile, baseUrl, apiKey, signingSecret } }) => ({
    ...nothingShown,
    profile,
    baseUrl,
    apiKeyLast4: last4(apiKey),
    signingSecretLast4: signingSecret === null ? null : last4(signingSecret),
  }),
  webhookPath: ({ id }) => `/channels/partner/${id}/webhook`,
  verifyToken: () => null,
}

// An address that is none is refused later.
const isElsewhere = (before: string, after: string | undefined) =>
  after !== undefined && URL.canParse(after) && originOf(after) !== originOf(before)
