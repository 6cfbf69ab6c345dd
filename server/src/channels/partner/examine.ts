import type { CheckContext } from '../check/adapter-steps.ts'
import { hostOf, judgeCallbackUrl } from '../check/general-steps.ts'
import { type CheckLine, checkLine } from '../check/report.ts'
import type { PartnerConnection } from '../connection/connection.ts'
import { textOf } from '../waba/json.ts'
import type { PlatformHttp } from '../waba/platform-call.ts'
import { callPartner, type PartnerAnswer, targetOf } from './call.ts'

type Refused = Extract<PartnerAnswer, { ok: false }>

/** Examines a partner's number: whether the partner accepts the key, and where it sends callbacks. */
export async function examinePartner(
  http: PlatformHttp,
  connection: PartnerConnection,
  { callbackUrl }: CheckContext,
): Promise<CheckLine[]> {
  const [number, webhook] = await Promise.all([
    callPartner(http, { method: 'GET', ...targetOf(connection, 'numberPath') }),
    callPartner(http, { method: 'GET', ...targetOf(connection, 'webhookPath') }),
  ])
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

const isUnsupported = ({ errorCode }: Refused): boolean => errorCode === 'http_404' || errorCode === 'http_405'

function judgeRefusal(step: 'credentials' | 'webhook', { errorCode: code, meaning }: Refused): CheckLine {
  if (code === 'rate_limited' || code === 'http_429') return checkLine(step, 'rate_limited', { code })
  if (meaning.outcome === 'unreachable') return checkLine(step, 'unreachable', { code })
  const isKey = meaning.effect === 'connection_unavailable'
  if (!isKey) return checkLine(step, 'platform_error', { code })
  return step === 'credentials' ? checkLine(step, 'key_invalid', { code }) : checkLine(step, 'not_checked')
}
