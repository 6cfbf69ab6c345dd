/** Rooms of a workspace, as they may be typed without one. */
const pages = ['home', 'inbox', 'leads', 'connections', 'forms', 'webhooks', 'keys', 'settings', 'profile']

// Only places of ours that sign-in is a step towards: an open redirect would lend our name to anyone.
const allowedPrefixes = new RegExp(
  `^/(invite/[A-Za-z0-9_-]{1,100}|w/[0-9a-f-]{36}[\\w\\-./?=&%]{0,500}|(${pages.join('|')})(/[\\w-]{1,100})?(\\?[\\w\\-.=&%]{0,500})?)$`,
)

/** Where somebody is to be after signing in. */
export const safeNext = (next: string): string => (allowedPrefixes.test(next) ? next : '/')
