import { isPublicUrl } from '../../base/outgoing/guard.ts'
import { isInSetup, type StoredConnection } from '../connection/connection.ts'
import { holdsOf } from '../health/availability.ts'
import { acknowledgedUntil, needsAcknowledgement } from '../health/health.ts'
import { activeHolds } from '../health/holds.ts'
import { type CheckLine, checkLine } from './report.ts'

/** Limit of the platform. */
const maxUrlLength = 200

/** Judges the URL for callbacks. A platform on a private address, such as the simulator, can call private URLs. */
export function judgeCallbackUrl(url: string, platformUrl: string): CheckLine | null {
  if (isPublicUrl(platformUrl)) {
    const secured = url.replace(/^http:/, 'https:')
    if (!isPublicUrl(secured)) return checkLine('callback', 'callback_not_public', { host: hostOf(url) })
    if (url !== secured) return checkLine('callback', 'callback_not_https')
  }
  return url.length > maxUrlLength ? checkLine('callback', 'callback_too_long') : null
}

/** Returns the lines that apply to every channel: traffic, state, and the risk of a linked phone. */
export function judgeConnection(one: StoredConnection, now: Date): CheckLine[] {
  return [...judgeRisk(one, now), judgeMessages(one), judgeSending(one, now)]
}

function judgeMessages({ lastEventInAt }: StoredConnection): CheckLine {
  return lastEventInAt === null
    ? checkLine('messages', 'nothing_arrived')
    : checkLine('messages', 'messages_arrive', { at: lastEventInAt.toISOString() })
}

function judgeSending(one: StoredConnection, now: Date): CheckLine {
  if (isInSetup(one)) return checkLine('sending', 'in_setup')
  if (one.state === 'paused') return checkLine('sending', 'sending_paused')
  if (one.state === 'unavailable')
    return checkLine('sending', 'cannot_send', { reason: one.stateReason ?? 'unreachable' })
  const hold = activeHolds(holdsOf(one), now).find(({ stops }) => stops !== 'nothing')
  return hold === undefined
    ? checkLine('sending', 'can_send')
    : checkLine('sending', 'sending_held', { reason: hold.reason })
}

function judgeRisk(one: StoredConnection, now: Date): CheckLine[] {
  if (one.channel !== 'unofficial') return []
  const until = acknowledgedUntil(one)
  if (until === null || needsAcknowledgement(one, now)) return [checkLine('risk', 'risk_not_accepted')]
  return [checkLine('risk', 'risk_accepted', { until: until.toISOString() })]
}

/** Returns the host of a URL; the text itself if it is none. */
export const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : url)
