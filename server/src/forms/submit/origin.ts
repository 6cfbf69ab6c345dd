import type { PublicForm } from '../form.ts'

/** Where a post comes from: our own page, a site that the form lists, no browser that says so, or elsewhere. */
export type Sender = 'own' | 'listed' | 'unsaid' | 'foreign'

export interface PostedFrom {
  /** The `Origin` header. */
  origin: string | undefined
  /** The `Host` header. */
  host: string | undefined
  /** Whether the post holds the token of a page of ours, which a wrong one would still be refused for. */
  hasToken: boolean
}

export function senderOf(form: Pick<PublicForm, 'allowedOrigins'>, publicUrl: string, from: PostedFrom): Sender {
  const { origin, host, hasToken } = from
  if (origin === undefined) return 'unsaid'
  if (isOwn(origin, host, publicUrl)) return 'own'
  if (form.allowedOrigins.includes('*') || form.allowedOrigins.includes(origin)) return 'listed'
  // Browsers that hide where people come from say `null`, also on our own page.
  return origin === 'null' && hasToken ? 'own' : 'foreign'
}

// People may reach the service by another name than the configured one; no site can make a browser send our Host.
function isOwn(origin: string, host: string | undefined, publicUrl: string): boolean {
  if (!URL.canParse(origin)) return false
  return origin === new URL(publicUrl).origin || new URL(origin).host === host?.toLowerCase()
}
