/** Until when a conversation can be put aside; null: until the customer writes. By the reader's clock. */
export function snoozeTimes(now: Date): { name: 'hours' | 'tomorrow' | 'week' | 'reply'; until: Date | null }[] {
  const hours = new Date(now.getTime() + 3 * 3_600_000)
  const daysToMonday = (8 - now.getDay()) % 7 || 7
  return [
    { name: 'hours', until: hours },
    { name: 'tomorrow', until: morning(now, 1) },
    { name: 'week', until: morning(now, daysToMonday) },
    { name: 'reply', until: null },
  ]
}

const morning = (now: Date, days: number): Date =>
  new Date(now.getFullYear(), now.getMonth(), now.getDate() + days, 9, 0, 0)
