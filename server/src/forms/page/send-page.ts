import type { FastifyReply } from 'fastify'
import type { Html } from '../../base/text/html.ts'
import type { Form } from '../form.ts'

/** Sends a page that may load its own style and nothing else; sites that the form lists may frame it. */
export function sendPage(reply: FastifyReply, page: Html, form: Form | null = null): FastifyReply {
  return reply
    .headers({
      'content-security-policy': policyOf(form),
      // Under `no-referrer`, browsers would name the origin of our own form `null`.
      'referrer-policy': 'same-origin',
    })
    .type('text/html; charset=utf-8')
    .send(page.toString())
}

function policyOf(form: Form | null): string {
  const frames = form?.allowedOrigins.includes('*') ? ['*'] : ["'self'", ...(form?.allowedOrigins ?? [])]
  // Browsers hold the redirect after a post to this as well, and that address may redirect on.
  const targets = form?.redirectUrl ? "'self' https: http:" : "'self'"
  return [
    "default-src 'none'",
    "style-src 'self'",
    'img-src data:',
    "base-uri 'none'",
    `form-action ${targets}`,
    `frame-ancestors ${frames.join(' ')}`,
  ].join('; ')
}
