/** Returns the first or last moment of a day in the reader's time zone, such as `2026-03-01`; null if invalid. */
export function edgeOfDay(day: string, edge: 'from' | 'to'): string | null {
  const [year, month, date] = day.split('-').map(Number)
  if (year === undefined || month === undefined || date === undefined || year < 1970) return null
  const at = edge === 'from' ? new Date(year, month - 1, date) : new Date(year, month - 1, date + 1, 0, 0, 0, -1)
  return Number.isNaN(at.getTime()) ? null : at.toISOString()
}
