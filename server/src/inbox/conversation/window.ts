export const windowMs = 24 * 3_600_000
/** How far the platform's clock may be ahead of ours. */
const maxSkewMs = 5 * 60_000

/**
 * The end of the conversation window once the customer wrote at `writtenAt`, by the platform's clock. A message that
 * comes late never shortens it, and a platform clock ahead of ours lengthens it by at most five minutes.
 */
export function windowAfter(expiresAt: Date | null, writtenAt: Date, now: Date): Date {
  const from = Math.min(writtenAt.getTime(), now.getTime() + maxSkewMs)
  return new Date(Math.max(expiresAt?.getTime() ?? 0, from + windowMs))
}

export function windowIsOpen(expiresAt: Date | null, now: Date): boolean {
  return expiresAt !== null && expiresAt > now
}

/** The window as callers see it: null once it is closed. */
export function openWindow(expiresAt: Date | null, now: Date): Date | null {
  return windowIsOpen(expiresAt, now) ? expiresAt : null
}
