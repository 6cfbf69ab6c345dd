const aYear = 365 * 24 * 60 * 60

/** Where the reader's days begin. */
export const timeZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone

/** Tells the service, whose page for home has the figures on the way before the app can ask for them. */
export function saveTimeZoneCookie(): void {
  // biome-ignore lint/suspicious/noDocumentCookie: the other way to write one is missing in Safari
  document.cookie = `parley_time_zone=${encodeURIComponent(timeZone())}; path=/; max-age=${aYear}; samesite=lax`
}
