import { createHmac } from 'node:crypto'
import { createToken } from '../../../base/encryption/secret-token.ts'
import type { CheckContext } from '../../check/adapter-steps.ts'
import { judgeCallbackUrl } from '../../check/general-steps.ts'
import { type CheckLine, type CheckStep, checkLine } from '../../check/report.ts'
import type { WabaConnection } from '../../connection/connection.ts'
import { type CallResult, callPlatform, type PlatformHttp } from '../platform-call.ts'
import { askGraph, type GraphAnswer } from './graph-answer.ts'
import { judgeHistory } from './judge-history.ts'
import { judgeAccount, judgeName, judgeNumber, judgeRegistration, judgeSubscription } from './judge-number.ts'
import { judgeAppSecret, judgePermissions, judgeToken, parseToken } from './judge-token.ts'

/** Everything that the platform said, for the rules. Null: not asked, because there is nothing to ask about. */
export interface WabaAnswers {
  debug: GraphAnswer
  /** Asked only if `debug` does not list the permissions. */
  permissions: GraphAnswer | null
  proof: GraphAnswer
  account: GraphAnswer | null
  listed: GraphAnswer | null
  number: GraphAnswer | null
  apps: GraphAnswer | null
}

/** Examines a number of the official platform: at most nine calls, each of at most 8 s, in three rounds. */
export async function examineWaba(
  http: PlatformHttp,
  connection: WabaConnection,
  context: CheckContext,
): Promise<CheckLine[]> {
  const callback = probeCallback(http, connection, context)
  const debug = await askAboutToken(http, connection)
  const token = judgeToken(debug, context.now)
  if (token.status === 'failed') return [token, ...unchecked(stepsAfterToken), await callback]
  const answers = await askAll(http, connection, debug)
  return [...judgeAnswers(answers, connection, context), await callback]
}

/** Steps that only a valid token can check. */
const stepsAfterToken: readonly CheckStep[] = [
  'permissions',
  'app_secret',
  'account',
  'number',
  'display_name',
  'registration',
  'webhook',
  'history',
]
const unchecked = (steps: readonly CheckStep[]): CheckLine[] => steps.map((step) => checkLine(step, 'not_checked'))

const numberFields = 'id,display_phone_number,verified_name,name_status,status,code_verification_status'
/** Fields that an older version of the API does not have; it then refuses the whole read. */
const newerFields = 'is_on_biz_app,platform_type,last_onboarded_time,webhook_configuration'

/** Reads what the rules need to know about the number. */
export async function askAboutNumber(http: PlatformHttp, { numberId, settings }: WabaConnection): Promise<GraphAnswer> {
  const path = `${encodeURIComponent(numberId)}?fields=${numberFields}`
  const answer = await askGraph(http, settings, `${path},${newerFields}`)
  const isUnknownField = !answer.ok && answer.errorCode === '100' && answer.subcode !== 33
  return isUnknownField ? askGraph(http, settings, `${path},is_on_biz_app,platform_type`) : answer
}

/** Asks what the token is. In the query, as the platform requires; it goes only to the platform. */
export const askAboutToken = (http: PlatformHttp, { settings }: WabaConnection): Promise<GraphAnswer> =>
  askGraph(http, settings, `debug_token?input_token=${encodeURIComponent(settings.accessToken)}`)

async function askAll(http: PlatformHttp, connection: WabaConnection, debug: GraphAnswer): Promise<WabaAnswers> {
  const { settings, accountId } = connection
  const ask = (path: string) => askGraph(http, settings, path)
  const account = accountId === null ? null : encodeURIComponent(accountId)
  const proof = createHmac('sha256', settings.appSecret).update(settings.accessToken).digest('hex')
  const answers = await Promise.all([
    parseToken(debug).scopes === null ? ask('me/permissions') : null,
    ask(`me?fields=id&appsecret_proof=${proof}`),
    account === null ? null : ask(`${account}?fields=id,name`),
    account === null ? null : ask(`${account}/phone_numbers?fields=id,display_phone_number&limit=100`),
    hasNumber(connection) ? askAboutNumber(http, connection) : null,
    account === null ? null : ask(`${account}/subscribed_apps`),
  ])
  const [permissions, proved, named, listed, number, apps] = answers
  return { debug, permissions, proof: proved, account: named, listed, number, apps }
}

/** Whether a number is chosen: until then, the connection's own id takes its place. */
export const hasNumber = ({ id, numberId }: Pick<WabaConnection, 'id' | 'numberId'>): boolean => numberId !== id

/** Returns the lines for what the platform said; the callback URL has a line of its own. */
export function judgeAnswers(
  answers: WabaAnswers,
  connection: Pick<WabaConnection, 'id' | 'numberId' | 'accountId'>,
  { ownUrls, history, createdAt, now }: Pick<CheckContext, 'ownUrls' | 'history' | 'createdAt' | 'now'>,
): CheckLine[] {
  const { debug, permissions, proof, account, listed, number, apps } = answers
  const token = parseToken(debug)
  const lines = [
    judgeToken(debug, now),
    judgePermissions(token, permissions),
    judgeAppSecret(proof),
    judgeAccount(connection.accountId, account),
    judgeNumber(hasNumber(connection) ? connection.numberId : null, number, listed),
  ]
  if (number === null || !number.ok) {
    return [...lines, ...unchecked(['display_name', 'registration', 'webhook', 'history'])]
  }
  return [
    ...lines,
    judgeName(number.body),
    judgeRegistration(number.body),
    apps === null
      ? checkLine('webhook', 'not_checked')
      : judgeSubscription({ appId: token.appId, apps, number: number.body, ownUrls }),
    judgeHistory(number.body, history, createdAt, now),
  ]
}

const probeTimeoutMs = 5_000

/** Calls the connection's own callback URL as the platform does to verify it. */
async function probeCallback(
  http: PlatformHttp,
  { settings }: WabaConnection,
  { callbackUrl }: CheckContext,
): Promise<CheckLine> {
  if (callbackUrl === null) return checkLine('callback', 'not_checked')
  const problem = judgeCallbackUrl(callbackUrl, settings.baseUrl)
  if (problem !== null) return problem
  const challenge = createToken()
  const query = new URLSearchParams({
    'hub.mode': 'subscribe',
    'hub.challenge': challenge,
    'hub.verify_token': settings.verifyToken,
  })
  const url = `${callbackUrl}?${query}`
  const answer = await callPlatform(http, { method: 'GET', url, headers: {}, timeoutMs: probeTimeoutMs })
  return judgeProbe(answer, challenge)
}

/** Judges the answer of the callback URL: any other than the challenge is of another program. */
export function judgeProbe(answer: CallResult, challenge: string): CheckLine {
  if (answer.outcome !== 'answered') return checkLine('callback', 'callback_untested', { code: answer.code })
  return answer.status === 200 && answer.body === challenge
    ? checkLine('callback', 'callback_answers')
    : checkLine('callback', 'callback_mismatch', { code: `http_${answer.status}` })
}
