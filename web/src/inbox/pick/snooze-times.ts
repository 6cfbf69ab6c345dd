export type SnoozeName = 'hours' | 'evening' | 'tomorrow' | 'monday' | 'month' | 'reply'

/** Returns the suggested snooze times in the reader's time zone; null: until the customer writes. */
export function snoozeTimes(now: Date): { name: SnoozeName; until: Date | null }[] {
  const daysToMonday = (8 - now.getDay()) % 7 || 7
  const evening = at(now, 0, 18)
  return [
    { name: 'hours', until: new Date(now.getTime() + 3 * hourMs) },
    // Not shortly before it starts.
    ...(evening.getTime() - now.getTime() > hourMs ? [{ name: 'evening' as const, until: evening }] : []),
    { name: 'tomorrow', until: at(now, 1, 9) },
    { name: 'monday', until: at(now, daysToMonday, 9) },
    { name: 'month', until: inAMonth(now) },
    { name: 'reply', until: null },
  ]
}

const hourMs = 3_600_000
// Longer times are rejected as mistakes.
const maxSnoozeMs = 366 * 24 * hourMs

const at = (now: Date, days: number, hour: number, minute = 0): Date =>
  new Date(now.getFullYear(), now.getMonth(), now.getDate() + days, hour, minute, 0)

/** Returns the same day of the next month, or its last day if it has no such day. */
function inAMonth(now: Date): Date {
  const last = new Date(now.getFullYear(), now.getMonth() + 2, 0)
  return new Date(last.getFullYear(), last.getMonth(), Math.min(now.getDate(), last.getDate()), 9)
}

// First letters in the three languages: minutes, hours, days, weeks.
const units: Record<string, number> = { m: hourMs / 60, h: hourMs, d: 24 * hourMs, w: 168 * hourMs, s: 168 * hourMs }

/** Parses a typed time: `90 min`, `2h`, `3 d`, `1w`, or `18:30` for its next occurrence; null otherwise. */
export function readSnooze(text: string, now: Date): Date | null {
  const [isSpan, amount, unit] = /^(\d{1,3}) ?([mhdws])[a-z]{0,8}$/.exec(text.trim().toLowerCase()) ?? []
  if (isSpan !== undefined) {
    const until = new Date(now.getTime() + Number(amount) * (units[unit ?? ''] ?? 0))
    return until > now && until.getTime() - now.getTime() <= maxSnoozeMs ? until : null
  }
  const [isClock, hour, minute] = /^(\d{1,2})[:h](\d{2})$/.exec(text.trim().toLowerCase()) ?? []
  if (isClock === undefined || Number(hour) > 23 || Number(minute) > 59) return null
  const today = at(now, 0, Number(hour), Number(minute))
  return today > now ? today : at(now, 1, Number(hour), Number(minute))
}
