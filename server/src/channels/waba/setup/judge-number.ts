import type { AccountNumbers } from '../../check/adapter-steps.ts'
import { hostOf } from '../../check/general-steps.ts'
import { type CheckCode, type CheckLine, checkLine } from '../../check/report.ts'
import { type JsonObject, listOf, objectOf, textOf, tokenOf } from '../json.ts'
import { type GraphAnswer, isDenied, judgeFailure } from './graph-answer.ts'

export function judgeAccount(accountId: string | null, account: GraphAnswer | null): CheckLine {
  if (accountId === null || account === null) return checkLine('account', 'account_not_chosen')
  if (account.ok) return checkLine('account', 'account_found', { name: textOf(account.body.name) ?? accountId })
  return isDenied(account)
    ? checkLine('account', 'account_no_access', { id: accountId })
    : judgeFailure('account', account)
}

/** `listed`: the numbers of the account; null if they could not be read. */
export function judgeNumber(
  numberId: string | null,
  number: GraphAnswer | null,
  listed: GraphAnswer | null,
): CheckLine {
  if (numberId === null || number === null) return checkLine('number', 'number_not_chosen')
  if (!number.ok) {
    return isDenied(number) ? checkLine('number', 'number_no_access', { id: numberId }) : judgeFailure('number', number)
  }
  const id = textOf(number.body.id) ?? numberId
  if (isComplete(listed) && !numbersIn(listed).some((one) => one.id === id)) {
    return checkLine('number', 'number_other_account', { id })
  }
  const phone = textOf(number.body.display_phone_number) ?? numberId
  return checkLine('number', 'number_found', { phone, name: textOf(number.body.verified_name) ?? '' })
}

// An account may have more numbers than one page; the number may then be on another.
const isComplete = (listed: GraphAnswer | null): boolean =>
  listed?.ok === true && textOf(objectOf(listed.body.paging).next) === null

const maxNumbers = 100

export function numbersIn(listed: GraphAnswer | null): AccountNumbers['numbers'] {
  if (listed === null || !listed.ok) return []
  return listOf(listed.body.data)
    .map(objectOf)
    .flatMap((number) => {
      const id = tokenOf(number.id)
      if (id === null || !/^[0-9A-Za-z_.-]{1,64}$/.test(id)) return []
      const phone = (textOf(number.display_phone_number) ?? '').slice(0, 40)
      return [{ id, phone, name: (textOf(number.verified_name) ?? '').slice(0, 200), isOnPhone: isOnPhone(number) }]
    })
    .slice(0, maxNumbers)
}

/** Whether the number is also used with the app on a phone. */
export const isOnPhone = (number: JsonObject): boolean =>
  number.is_on_biz_app === true && number.platform_type === 'CLOUD_API'

const nameCodes: Record<string, CheckCode> = {
  APPROVED: 'name_approved',
  AVAILABLE_WITHOUT_REVIEW: 'name_approved',
  PENDING_REVIEW: 'name_pending',
  DECLINED: 'name_declined',
  REJECTED: 'name_declined',
  EXPIRED: 'name_expired',
  NONE: 'name_none',
  NON_EXISTS: 'name_none',
}

export function judgeName(number: JsonObject): CheckLine {
  const code = nameCodes[textOf(number.name_status)?.toUpperCase() ?? '']
  if (code === undefined) return checkLine('display_name', 'not_checked')
  return checkLine('display_name', code, { name: textOf(number.verified_name) ?? '' })
}

const workingStatuses: readonly string[] = ['CONNECTED', 'MIGRATED']
const flaggedStatuses: readonly string[] = ['FLAGGED', 'RATE_LIMITED']
const restrictedStatuses: readonly string[] = ['BANNED', 'RESTRICTED', 'DELETED']

export function judgeRegistration(number: JsonObject): CheckLine {
  const status = textOf(number.status)?.toUpperCase() ?? ''
  if (restrictedStatuses.includes(status)) return checkLine('registration', 'number_restricted', { status })
  if (flaggedStatuses.includes(status)) return checkLine('registration', 'number_flagged', { status })
  if (isOnPhone(number)) return checkLine('registration', 'registered_on_phone')
  if (workingStatuses.includes(status)) return checkLine('registration', 'registered')
  if (status === '') return checkLine('registration', 'not_checked')
  // Registering also ends the verification of a number that works, so it counts only for one that does not.
  const isUnverified = ['NOT_VERIFIED', 'EXPIRED'].includes(
    textOf(number.code_verification_status)?.toUpperCase() ?? '',
  )
  return checkLine('registration', isUnverified ? 'number_unverified' : 'not_registered')
}

/** Whether the number works already, so that registering it again would do nothing or harm. */
export const isRegistered = (number: JsonObject): boolean =>
  isOnPhone(number) || workingStatuses.includes(textOf(number.status)?.toUpperCase() ?? '')

interface Subscription {
  /** App of the token; null if unknown. */
  appId: string | null
  apps: GraphAnswer
  number: JsonObject
  /** Callback URLs of this workspace's connections with the same app. */
  ownUrls: readonly string[]
}

/** Judges which app receives the messages of the account, and at which URL. */
export function judgeSubscription({ appId, apps, number, ownUrls }: Subscription): CheckLine {
  if (!apps.ok) return judgeRefusedWebhook(apps)
  const subscribed = listOf(apps.body.data).map(objectOf)
  const appOf = (one: JsonObject) => objectOf(one.whatsapp_business_api_data)
  const own = subscribed.find((one) => appId === null || tokenOf(appOf(one).id) === appId)
  if (own === undefined) {
    const [other] = subscribed
    if (other === undefined) return checkLine('webhook', 'not_subscribed')
    return checkLine('webhook', 'other_app', { app: textOf(appOf(other).name) ?? tokenOf(appOf(other).id) ?? '?' })
  }
  return judgeUrl(callbackUrls(number), textOf(own.override_callback_uri), ownUrls)
}

export const judgeRefusedWebhook = (answer: Extract<GraphAnswer, { ok: false }>): CheckLine =>
  isDenied(answer)
    ? checkLine('webhook', 'platform_error', { code: answer.errorCode })
    : judgeFailure('webhook', answer)

interface CallbackUrls {
  number: string | null
  account: string | null
  app: string | null
}

/** Returns the callback URLs that the platform reports for a number; the first one that is set applies. */
export function callbackUrls(number: JsonObject): CallbackUrls {
  const { phone_number, whatsapp_business_account, application } = objectOf(number.webhook_configuration)
  return { number: textOf(phone_number), account: textOf(whatsapp_business_account), app: textOf(application) }
}

function judgeUrl(
  { number, account, app }: CallbackUrls,
  override: string | null,
  ownUrls: readonly string[],
): CheckLine {
  const used = number ?? account ?? override ?? app
  if (used === null) return checkLine('webhook', 'callback_unknown')
  if (!ownUrls.includes(used)) return checkLine('webhook', 'other_callback', { host: hostOf(used) })
  // An override applies to messages; other events always go to the app's own URL.
  const isElsewhere = app !== null && used !== app && !ownUrls.includes(app)
  return isElsewhere
    ? checkLine('webhook', 'subscribed_override', { host: hostOf(app) })
    : checkLine('webhook', 'subscribed')
}
