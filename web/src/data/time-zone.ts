const yearSeconds = 365 * 24 * 60 * 60

/** Returns the time zone of the browser. */
export const timeZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone

/** Saves the time zone in a cookie, so that the server can include the figures of the home page. */
export function saveTimeZoneCookie(): void {
  // biome-ignore lint/suspicious/noDocumentCookie: Safari lacks the Cookie Store API
  document.cookie = `parley_time_zone=${encodeURIComponent(timeZone())}; path=/; max-age=${yearSeconds}; samesite=lax`
}
