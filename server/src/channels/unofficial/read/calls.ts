import { callNotice } from '../../call-notice.ts'
import { countOf } from '../../detail-values.ts'
import type { Loose } from '../../waba/json.ts'

/** What the phone keeps of a call. The network spells it so. */
export const callLog = 'callLogMesssage'

// By number or by name, as the library hands them over.
const answered = new Set<unknown>([0, '0', 'CONNECTED', 4, '4', 'ACCEPTED_ELSEWHERE', 5, '5', 'ONGOING'])
const declined = new Set<unknown>([3, '3', 'REJECTED'])
const missedNotices = new Map<unknown, boolean>([
  [40, false],
  ['CALL_MISSED_VOICE', false],
  [41, true],
  ['CALL_MISSED_VIDEO', true],
])
const maxSeconds = 7 * 86_400

export function callText({ isVideo, callOutcome, durationSecs }: Loose): string {
  const outcome = answered.has(callOutcome) ? 'answered' : declined.has(callOutcome) ? 'declined' : 'missed'
  return callNotice({ isVideo: isVideo === true, outcome, seconds: countOf(durationSecs, maxSeconds) })
}

/** The words for the notice that a call rang out; null for any other notice. */
export function missedCallText(stubType: unknown): string | null {
  const isVideo = missedNotices.get(stubType)
  return isVideo === undefined ? null : callNotice({ isVideo, outcome: 'missed', seconds: null })
}
