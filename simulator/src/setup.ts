import { type Static, Type } from 'typebox'
import { nullable, oneOf, timestamp } from '../../server/src/base/route.ts'
import type { BusinessNumber } from './world.ts'

/** What can be wrong while a number is being connected. */
export const setupFields = Type.Object({
  tokenState: oneOf(['valid', 'temporary', 'expired', 'revoked'], {
    description:
      'temporary: of a person, for a day. expired, revoked: calls are refused with 190, by a partner with 401',
  }),
  missingPermission: oneOf(['none', 'whatsapp_business_messaging', 'whatsapp_business_management'], {
    description: 'Permission that the token lacks: sends get 10, reads of the account 200',
  }),
  registered: Type.Boolean({ description: 'false: sends are refused with 133010' }),
  verified: Type.Boolean({ description: 'false: the number cannot be registered (133006)' }),
  pin: Type.String({
    pattern: '^(\\d{6})?$',
    maxLength: 6,
    description: 'PIN of two-step verification; empty: registering sets it',
  }),
  standing: oneOf(['NORMAL', 'FLAGGED', 'RESTRICTED', 'BANNED'], { description: 'Status of a registered number' }),
  isOnPhone: Type.Boolean({ description: "The number stays on the phone's app" }),
  onboardedAt: nullable(timestamp('When the number was connected to the platform; null: not reported')),
  subscribed: Type.Boolean({ description: 'false: no webhooks' }),
  hasOtherApp: Type.Boolean({ description: 'Another app is subscribed to the account' }),
})
export type SetupState = Static<typeof setupFields>

export const readySetup: SetupState = {
  tokenState: 'valid',
  missingPermission: 'none',
  registered: true,
  verified: true,
  pin: '',
  standing: 'NORMAL',
  isOnPhone: true,
  onboardedAt: null,
  subscribed: true,
  hasOtherApp: false,
}

export const ownApp = { id: '1007', name: 'Parley', link: 'https://example.com/' }
const otherApp = { id: '2008', name: 'Another app', link: 'https://example.org/' }
const permissions = ['whatsapp_business_messaging', 'whatsapp_business_management'] as const

export const grantedTo = ({ missingPermission }: SetupState): string[] =>
  permissions.filter((one) => one !== missingPermission)

const [hourS, dayS] = [3600, 24 * 3600]

/** Returns what the platform says about a token; `accountIds`: the accounts that it can access. */
export function describeToken(number: BusinessNumber, accountIds: readonly string[], now: Date): object {
  const nowS = Math.floor(now.getTime() / 1000)
  const isTemporary = number.tokenState === 'temporary'
  const scopes = grantedTo(number)
  return {
    data: {
      app_id: ownApp.id,
      type: isTemporary ? 'USER' : 'SYSTEM_USER',
      application: ownApp.name,
      data_access_expires_at: 0,
      expires_at: isTemporary ? nowS - hourS + dayS : 0,
      issued_at: nowS - hourS,
      is_valid: true,
      scopes,
      granular_scopes: scopes.map((scope) => ({ scope, target_ids: accountIds })),
      user_id: '3009',
    },
  }
}

/** Returns the fields of a number that tell how far it is connected. */
export const describeSetup = (number: BusinessNumber): Record<string, unknown> => ({
  status: statusOf(number),
  code_verification_status: number.verified ? 'VERIFIED' : 'NOT_VERIFIED',
  is_on_biz_app: number.isOnPhone,
  platform_type: number.registered || number.isOnPhone ? 'CLOUD_API' : 'NOT_APPLICABLE',
  ...(number.onboardedAt === null ? {} : { last_onboarded_time: number.onboardedAt.replace(/\.\d+Z$/, '+0000') }),
  ...(number.callbackUrl === null ? {} : { webhook_configuration: { [number.callbackLevel]: number.callbackUrl } }),
})

function statusOf({ registered, standing }: BusinessNumber): string {
  if (!registered) return 'PENDING'
  return standing === 'NORMAL' ? 'CONNECTED' : standing
}

export function listApps({ subscribed, hasOtherApp, callbackLevel, callbackUrl }: BusinessNumber): object {
  const override = callbackLevel === 'whatsapp_business_account' ? { override_callback_uri: callbackUrl } : {}
  return {
    data: [
      ...(subscribed ? [{ whatsapp_business_api_data: ownApp, ...override }] : []),
      ...(hasOtherApp ? [{ whatsapp_business_api_data: otherApp }] : []),
    ],
  }
}
