import type { FastifyReply } from 'fastify'
import { type Html, type HtmlPart, html, trustedHtml } from '../../../base/text/html.ts'
import { pageStyle, pageStyleSource } from './style.ts'
import type { Words } from './words.ts'

const policy = [
  "default-src 'none'",
  `style-src ${pageStyleSource}`,
  'img-src data:',
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ')

// The whole element in one piece: the policy's hash covers every byte between the tags.
const style = trustedHtml(`<style>${pageStyle}</style>`)

export interface PageOptions {
  title: string
  words?: Words
}

/** A whole page: needs no script, loads nothing. */
export function page({ title, words }: PageOptions, ...body: HtmlPart[]): Html {
  return html`<!doctype html>
<html lang="${words?.language ?? 'en'}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title} · Parley</title>
<link rel="icon" href="data:,">
${style}
</head>
<body>
<main>
<div class="brand">
<svg viewBox="0 0 24 24" aria-hidden="true"><path d="M4 3h16a2 2 0 0 1 2 2v10a2 2 0 0 1-2 2h-7l-5 4v-4H4a2 2 0 0 1-2-2V5a2 2 0 0 1 2-2z"/></svg>
<span>Parley</span>
</div>
${body}
</main>
</body>
</html>
`
}

/** A failure in words, above the form that it is about. */
export function problemLine(problem: string | null): Html | null {
  return problem === null ? null : html`<p class="problem" role="alert">${problem}</p>`
}

/**
 * Sends a page that may be framed by nobody and posts only to us. Its address stays within the site: it can hold a
 * link's token, and our own forms must still say where they come from.
 */
export function sendPage(reply: FastifyReply, body: Html, statusCode = 200): FastifyReply {
  return reply
    .code(statusCode)
    .header('content-security-policy', policy)
    .header('referrer-policy', 'same-origin')
    .header('cache-control', 'no-store')
    .type('text/html; charset=utf-8')
    .send(body.text)
}
