import type { HistoryRequest, HistoryRequests } from '../../check/adapter-steps.ts'
import { type CheckLine, checkLine } from '../../check/report.ts'
import { type JsonObject, textOf } from '../json.ts'
import { isOnPhone } from './judge-number.ts'

const windowMs = 24 * 3_600_000
/** The platform accepts each request once; a repeated one gets this code. */
const alreadyRequested = '2593107'
const windowPassed = '2593108'

/** Judges whether contacts and history were requested, or still can be: once, within 24 hours of the connecting. */
export function judgeHistory(
  number: JsonObject,
  { contacts, history }: HistoryRequests,
  createdAt: Date,
  now: Date,
): CheckLine {
  if (!isOnPhone(number)) return checkLine('history', 'not_on_phone')
  const startedAt = onboardedAt(number)
  const requests = [contacts, history].filter((one) => one !== null && isCurrent(one, startedAt))
  if (requests.length === 2 && requests.every((one) => one !== null && isAccepted(one))) {
    return checkLine('history', 'history_requested')
  }
  const refused = requests.find((one) => one !== null && !isAccepted(one))
  if (refused?.errorCode === windowPassed) return checkLine('history', 'history_passed')
  if (refused?.errorCode) return checkLine('history', 'history_refused', { code: refused.errorCode })
  const until = new Date((startedAt ?? createdAt).getTime() + windowMs)
  return until <= now
    ? checkLine('history', 'history_passed')
    : checkLine('history', 'history_open', { until: until.toISOString() })
}

/** Whether a request still has to be made: not for one that was accepted since the number was connected. */
export const isNeeded = (request: HistoryRequest | null, number: JsonObject): boolean =>
  request === null || !isAccepted(request) || !isCurrent(request, onboardedAt(number))

const isAccepted = ({ errorCode }: HistoryRequest): boolean => errorCode === null || errorCode === alreadyRequested

/** A number that was disconnected and connected again can request everything again. */
const isCurrent = ({ at }: HistoryRequest, startedAt: Date | null): boolean =>
  startedAt === null || new Date(at) >= startedAt

/** When the number was last connected to the platform; null if that is not reported. */
function onboardedAt({ last_onboarded_time }: JsonObject): Date | null {
  const time = Date.parse((textOf(last_onboarded_time) ?? '').slice(0, 40).replace(/\+0000$/, 'Z'))
  return Number.isNaN(time) ? null : new Date(time)
}
