/** Returns a time of a later day in a time zone, such as tomorrow at 9:00. */
export function zoneTime(now: Date, timeZone: string, days: number, hour: number): Date {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' })
  const localMs = (at: Date) => Date.parse(`${format.format(at).replace(' ', 'T')}Z`) + at.getMilliseconds()
  const today = new Date(localMs(now))
  const wanted = Date.UTC(today.getUTCFullYear(), today.getUTCMonth(), today.getUTCDate() + days, hour)
  // The offset at that time may differ from now's: the clocks may change in between.
  const first = new Date(wanted - (localMs(now) - now.getTime()))
  return new Date(first.getTime() + wanted - localMs(first))
}
