import type { FastifyReply } from 'fastify'
import { type Html, type HtmlPart, html, trustedHtml } from '../../../base/text/html.ts'
import { fontPath, pageStyle, pageStyleSource } from './style.ts'
import type { Words } from './words.ts'

const policy = [
  "default-src 'none'",
  `style-src ${pageStyleSource}`,
  'img-src data:',
  "font-src 'self'",
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

/** A whole page: needs no script, and loads the app's font alone. */
export function page({ title, words }: PageOptions, ...body: HtmlPart[]): Html {
  return html`<!doctype html>
<html lang="${words?.language ?? 'en'}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title} · Parley</title>
<link rel="icon" href="data:,">
<link rel="preload" as="font" type="font/woff2" crossorigin href="${fontPath}">
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
export function problemLine({ line }: Problem): Html | null {
  return line === undefined ? null : html`<p class="problem" role="alert">${line}</p>`
}

/** What is wrong with a form: as a whole, and with its fields by their names. */
export interface Problem {
  line?: string
  fields?: Readonly<Record<string, string>>
}

interface Field {
  name: string
  label: string
  /** What the input has beside its name. */
  attributes: HtmlPart
  help?: string
  /** Where to begin, unless something is wrong elsewhere. */
  isFirst?: boolean
}

/** A field with its help and what is wrong with it; the first that is wrong has the focus. */
export function fieldOfForm({ name, label, attributes, help, isFirst = false }: Field, { fields = {} }: Problem): Html {
  const problem = fields[name]
  const [firstWrong] = Object.keys(fields)
  const hasFocus = firstWrong === undefined ? isFirst : firstWrong === name
  const notes = [problem !== undefined && `${name}-problem`, help !== undefined && `${name}-help`].filter(Boolean)
  return html`<div class="field"><label for="${name}">${label}</label>
<input id="${name}" name="${name}"${attributes}${problem !== undefined && html` aria-invalid="true"`}${
    notes.length > 0 && html` aria-describedby="${notes.join(' ')}"`
  }${hasFocus && html` autofocus`}>
${problem !== undefined && html`<small class="wrong" id="${name}-problem">${problem}</small>`}
${help !== undefined && html`<small id="${name}-help">${help}</small>`}</div>`
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
