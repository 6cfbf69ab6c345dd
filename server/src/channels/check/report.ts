/** Steps of a check, in the order in which they are shown. A channel has only those that apply to it. */
export const checkSteps = [
  ...(['token', 'permissions', 'app_secret', 'account', 'number', 'display_name', 'registration'] as const),
  ...(['credentials', 'link', 'risk', 'webhook', 'callback', 'history', 'sites', 'messages', 'sending'] as const),
] as const
export type CheckStep = (typeof checkSteps)[number]

export const checkStatuses = ['ok', 'warning', 'failed', 'skipped'] as const
export type CheckStatus = (typeof checkStatuses)[number]

/** What a step found, without words: `texts.ts` and the app have the words of each code. */
export interface CheckLine {
  step: CheckStep
  status: CheckStatus
  code: CheckCode
  /** Values of the texts, such as the name of the app. Never a secret. `at` and `until` are ISO times. */
  values: Record<string, string>
}

/** A report as stored with the connection. */
export interface CheckReport {
  checkedAt: string
  lines: CheckLine[]
}

/** What each status can mean; a code belongs to one status. */
const codes = {
  ok: [
    ...(['token_permanent', 'token_valid', 'permissions_granted', 'app_secret_matches', 'account_found'] as const),
    ...(['number_found', 'name_approved', 'registered', 'registered_on_phone', 'key_valid', 'linked'] as const),
    ...(['risk_accepted', 'subscribed', 'subscribed_override', 'callback_answers', 'callback_public'] as const),
    ...(['history_requested', 'sites_allowed', 'messages_arrive', 'can_send'] as const),
  ],
  warning: [
    ...(['token_expires', 'token_temporary', 'name_pending', 'name_none', 'number_flagged'] as const),
    ...(['key_unconfirmed', 'callback_unknown', 'callback_untested', 'history_open', 'history_passed'] as const),
    ...(['nothing_arrived', 'sending_held', 'sending_paused', 'no_sites'] as const),
  ],
  failed: [
    ...(['unreachable', 'rate_limited', 'platform_error', 'token_expired', 'token_invalid'] as const),
    ...(['permission_missing', 'app_secret_wrong', 'account_not_chosen', 'account_no_access'] as const),
    ...(['number_not_chosen', 'number_no_access', 'number_other_account', 'number_elsewhere'] as const),
    ...(['name_declined', 'name_expired', 'not_registered', 'number_unverified', 'number_restricted'] as const),
    ...(['pin_wrong', 'pin_too_fast', 'register_wait', 'register_too_often', 'key_invalid', 'not_linked'] as const),
    ...(['risk_not_accepted', 'not_subscribed', 'other_app', 'other_callback', 'callback_refused'] as const),
    ...(['callback_not_public', 'callback_not_https', 'callback_too_long', 'callback_mismatch'] as const),
    ...(['history_refused', 'cannot_send'] as const),
  ],
  skipped: ['not_checked', 'not_on_phone', 'in_setup'],
} as const satisfies Record<CheckStatus, readonly string[]>

export type CheckCode = (typeof codes)[CheckStatus][number]
export const checkCodes: readonly CheckCode[] = Object.values(codes).flat()

const statusOf = new Map<CheckCode, CheckStatus>(
  checkStatuses.flatMap((status) => codes[status].map((code): [CheckCode, CheckStatus] => [code, status])),
)

const maxValueLength = 200

/** Returns a line. Values come from the platform, so they are cut. */
export function checkLine(step: CheckStep, code: CheckCode, values: Record<string, string> = {}): CheckLine {
  const cut = Object.entries(values).map(([name, value]) => [name, value.slice(0, maxValueLength)])
  return { step, status: statusOf.get(code) ?? 'failed', code, values: Object.fromEntries(cut) }
}

/** Returns the lines in the order of the steps, one for each: the last one of a step counts. */
export function orderLines(lines: readonly CheckLine[]): CheckLine[] {
  const byStep = new Map(lines.map((line) => [line.step, line]))
  return checkSteps.flatMap((step) => byStep.get(step) ?? [])
}

/** Steps that a new connection must pass before it sends. A declined name or a lost history does not prevent sending. */
const requiredSteps: readonly CheckStep[] = [
  ...(['token', 'permissions', 'app_secret', 'account', 'number', 'registration', 'webhook', 'callback'] as const),
]

/** Steps of these that the platform may not tell anything about, also for a number that works. */
const uncertainSteps: readonly CheckStep[] = ['permissions', 'app_secret', 'registration']

/** Returns whether a connection in setup can be used: no required step failed, and messages are known to arrive here. */
export function isComplete(lines: readonly CheckLine[]): boolean {
  const statuses = new Map(orderLines(lines).map(({ step, status }) => [step, status]))
  return requiredSteps.every((step) => {
    const status = statuses.get(step)
    if (step === 'webhook') return status === 'ok'
    return status === 'ok' || status === 'warning' || (status === 'skipped' && uncertainSteps.includes(step))
  })
}
