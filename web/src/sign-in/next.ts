/** Pages of a workspace, which may be typed without its id. */
const pages = ['home', 'inbox', 'leads', 'connections', 'forms', 'webhooks', 'keys', 'settings', 'profile']

// Only our own paths that require sign-in: an open redirect would help phishing.
const allowedPrefixes = new RegExp(
  `^/(invite/[A-Za-z0-9_-]{1,100}|oauth/authorize\\?[\\w\\-.~*!'(),:/?=&%+]{1,8000}|w/[0-9a-f-]{36}[\\w\\-./?=&%]{0,500}|(${pages.join('|')})(/[\\w-]{1,100})?(\\?[\\w\\-.=&%]{0,500})?)$`,
)

/** Returns the path to open after sign-in. */
export const safeNext = (next: string): string => (allowedPrefixes.test(next) ? next : '/')
