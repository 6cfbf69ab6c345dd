import { makeToken } from '../../base/sealing/secret-token.ts'
import type { WabaConnection } from '../connection/connection.ts'
import { last4 } from '../connection/last4.ts'
import { type Kind, nothingShown } from '../kind.ts'

const graphUrl = 'https://graph.facebook.com'
const defaultVersion = 'v25.0'

export const wabaKind: Kind<WabaConnection> = {
  hasTemplates: true,
  begin: ({ numberId, accountId, baseUrl, version, accessToken, appSecret, verifyToken }) => ({
    numberId,
    accountId: accountId ?? null,
    settings: {
      baseUrl: baseUrl ?? graphUrl,
      version: version ?? defaultVersion,
      accessToken,
      appSecret,
      verifyToken: verifyToken ?? makeToken(),
    },
  }),
  changes: ['numberId', 'accountId', 'baseUrl', 'version', 'accessToken', 'appSecret', 'verifyToken'],
  secretsSent: ['accessToken'],
  change: ({ numberId, accountId, settings }, to) => ({
    numberId: to.numberId ?? numberId,
    accountId: to.accountId === undefined ? accountId : to.accountId,
    settings: {
      baseUrl: to.baseUrl ?? settings.baseUrl,
      version: to.version ?? settings.version,
      accessToken: to.accessToken ?? settings.accessToken,
      appSecret: to.appSecret ?? settings.appSecret,
      verifyToken: to.verifyToken ?? settings.verifyToken,
    },
  }),
  show: ({ settings: { baseUrl, version, accessToken, appSecret } }) => ({
    ...nothingShown,
    baseUrl,
    version,
    accessTokenLast4: last4(accessToken),
    appSecretLast4: last4(appSecret),
  }),
  webhookPath: ({ id }) => `/channels/waba/${id}/webhook`,
  verifyToken: ({ settings }) => settings.verifyToken,
}
