const earliestMs = Date.UTC(2009, 0, 1)
const latestMs = Date.UTC(2100, 0, 1)

/** The platform's time, whole seconds as text or number; `now` for one that cannot be. */
export function readPlatformTime(value: unknown, now: Date): Date {
  const seconds = typeof value === 'string' && /^\d{1,13}$/.test(value) ? Number(value) : value
  if (typeof seconds !== 'number') return now
  // Some senders of this format write milliseconds.
  const ms = Math.floor(seconds > 100_000_000_000 ? seconds : seconds * 1000)
  return ms >= earliestMs && ms <= latestMs ? new Date(ms) : now
}
