/** The first or the last moment of a day of the one who asks, which is typed as `2026-03-01`; null for what is no day. */
export function edgeOfDay(day: string, edge: 'from' | 'to'): string | null {
  const [year, month, date] = day.split('-').map(Number)
  if (year === undefined || month === undefined || date === undefined || year < 1970) return null
  const at = edge === 'from' ? new Date(year, month - 1, date) : new Date(year, month - 1, date + 1, 0, 0, 0, -1)
  return Number.isNaN(at.getTime()) ? null : at.toISOString()
}
