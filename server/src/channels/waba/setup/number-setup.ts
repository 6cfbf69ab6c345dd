import type {
  AccountNumbers,
  HistoryRequest,
  HistoryRequests,
  ListedAccounts,
  NumberSetup,
} from '../../check/adapter-steps.ts'
import { judgeCallbackUrl } from '../../check/general-steps.ts'
import { type CheckCode, type CheckLine, checkLine } from '../../check/report.ts'
import type { WabaConnection } from '../../connection/connection.ts'
import { textOf } from '../json.ts'
import type { PlatformHttp } from '../platform-call.ts'
import { askAboutNumber, askAboutToken } from './examine.ts'
import { askGraph, type GraphAnswer, isDenied, judgeFailure } from './graph-answer.ts'
import { isNeeded } from './judge-history.ts'
import { callbackUrls, isOnPhone, isRegistered, judgeRefusedWebhook, numbersIn } from './judge-number.ts'
import { parseToken } from './judge-token.ts'

type Refused = Extract<GraphAnswer, { ok: false }>

/** The steps of connecting a number of the official platform. */
export const wabaSetup = (http: PlatformHttp): NumberSetup<WabaConnection> => ({
  listNumbers: (connection, accountId) => listNumbers(http, connection, accountId),
  subscribe: (connection, callbackUrl) => subscribe(http, connection, callbackUrl),
  register: (connection, pin) => register(http, connection, pin),
  requestHistory: (connection, before, now) => requestHistory(http, connection, before, now),
})

const maxAccounts = 10

async function listNumbers(
  http: PlatformHttp,
  connection: WabaConnection,
  accountId: string | null,
): Promise<ListedAccounts> {
  const ids = accountId === null ? await accountsOf(http, connection) : [accountId]
  if (!Array.isArray(ids)) return { ok: false, errorCode: ids.errorCode }
  const read = await Promise.all(ids.slice(0, maxAccounts).map((id) => readAccount(http, connection, id)))
  const accounts = read.flatMap((one) => ('errorCode' in one ? [] : [one]))
  const refused = read.find((one) => 'errorCode' in one)
  // An account that cannot be read does not hide the others.
  return accounts.length === 0 && refused !== undefined
    ? { ok: false, errorCode: refused.errorCode }
    : { ok: true, accounts }
}

/** Returns the accounts that the token is limited to, and the connection's own. */
async function accountsOf(http: PlatformHttp, connection: WabaConnection): Promise<string[] | Refused> {
  const debug = await askAboutToken(http, connection)
  const known = connection.accountId === null ? [] : [connection.accountId]
  const ids = [...new Set([...known, ...parseToken(debug).accountIds])]
  return !debug.ok && ids.length === 0 && !isDenied(debug) && debug.errorCode !== '100' ? debug : ids
}

async function readAccount(
  http: PlatformHttp,
  { settings }: WabaConnection,
  id: string,
): Promise<AccountNumbers | Refused> {
  const path = encodeURIComponent(id)
  const fields = 'id,display_phone_number,verified_name,is_on_biz_app,platform_type'
  const [account, listed] = await Promise.all([
    askGraph(http, settings, `${path}?fields=id,name`),
    askGraph(http, settings, `${path}/phone_numbers?fields=${fields}&limit=100`),
  ])
  if (!listed.ok) return listed
  const name = account.ok ? (textOf(account.body.name) ?? id) : id
  return { id, name: name.slice(0, 200), numbers: numbersIn(listed) }
}

/**
 * Subscribes the app to the account, and has the number's messages sent to the callback URL. The URL is set for the
 * account if this is its only number, else for the number: other numbers may be connected elsewhere, and would lose
 * their messages.
 */
async function subscribe(
  http: PlatformHttp,
  connection: WabaConnection,
  callbackUrl: string,
): Promise<CheckLine | null> {
  const { settings, accountId, numberId } = connection
  if (accountId === null) return checkLine('account', 'account_not_chosen')
  const problem = judgeCallbackUrl(callbackUrl, settings.baseUrl)
  if (problem !== null) return problem
  const path = encodeURIComponent(accountId)
  const [listed, number] = await Promise.all([
    askGraph(http, settings, `${path}/phone_numbers?fields=id&limit=100`),
    askAboutNumber(http, connection),
  ])
  const override = { override_callback_uri: callbackUrl, verify_token: settings.verifyToken }
  const isAlone = listed.ok && numbersIn(listed).every(({ id }) => id === numberId)
  const isSetForNumber = number.ok && callbackUrls(number.body).number !== null
  const subscribed = await askGraph(http, settings, `${path}/subscribed_apps`, isAlone ? override : {})
  if (!subscribed.ok) return judgeRefusedCallback(subscribed)
  if (isAlone && !isSetForNumber) return null
  // The URL of the number has precedence over that of the account.
  const set = await askGraph(http, settings, encodeURIComponent(numberId), { webhook_configuration: override })
  return set.ok ? null : judgeRefusedCallback(set)
}

/** The platform called the URL and did not get the challenge back. */
const verificationFailed = '2200'

const judgeRefusedCallback = (answer: Refused): CheckLine =>
  answer.errorCode === verificationFailed ? checkLine('webhook', 'callback_refused') : judgeRefusedWebhook(answer)

const registerCodes: Record<string, CheckCode> = {
  133005: 'pin_wrong',
  133006: 'number_unverified',
  133009: 'pin_too_fast',
  133015: 'register_wait',
  133016: 'register_too_often',
}

/** Does nothing for a registered number. Registering one that stays on the phone's app would take it off the phone. */
async function register(http: PlatformHttp, connection: WabaConnection, pin: string): Promise<CheckLine | null> {
  const number = await askAboutNumber(http, connection)
  if (!number.ok) return judgeFailure('registration', number)
  if (isRegistered(number.body)) return null
  const path = `${encodeURIComponent(connection.numberId)}/register`
  const answer = await askGraph(http, connection.settings, path, { messaging_product: 'whatsapp', pin })
  if (answer.ok) return null
  const code = registerCodes[answer.errorCode]
  return code === undefined ? judgeFailure('registration', answer) : checkLine('registration', code)
}

async function requestHistory(
  http: PlatformHttp,
  connection: WabaConnection,
  before: HistoryRequests,
  now: Date,
): Promise<HistoryRequests> {
  const number = await askAboutNumber(http, connection)
  if (!number.ok || !isOnPhone(number.body)) return before
  const path = `${encodeURIComponent(connection.numberId)}/smb_app_data`
  const request = async (syncType: string, earlier: HistoryRequest | null): Promise<HistoryRequest | null> => {
    if (!isNeeded(earlier, number.body)) return earlier
    const body = { messaging_product: 'whatsapp', sync_type: syncType }
    const answer = await askGraph(http, connection.settings, path, body)
    return { at: now.toISOString(), errorCode: answer.ok ? null : answer.errorCode.slice(0, 50) }
  }
  // Contacts first: their names are known when the history arrives.
  const contacts = await request('smb_app_state_sync', before.contacts)
  return { contacts, history: await request('history', before.history) }
}
