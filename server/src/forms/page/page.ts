import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Issue } from '../../base/errors.ts'
import { type Html, html } from '../../base/text/html.ts'
import type { CustomField } from '../../leads/lead/custom-fields.ts'
import { type Form, tokenField } from '../form/form.ts'
import type { RawFields } from '../form/parameters.ts'
import { decoyHtml, fieldHtml, fieldId, hiddenHtml, sentence } from './field-html.ts'

export interface FormPage {
  form: Form
  token: string
  /** What the address gave, carried along in hidden inputs. */
  carried: readonly CustomField[]
  values: RawFields
  refusal: Refusal | null
}

/** Why the page is shown again. */
export interface Refusal {
  message: string
  /** Per field; empty when the whole was refused. */
  issues: readonly Issue[]
}

export const style = readFileSync(new URL('form.css', import.meta.url), 'utf8')
export const styleHref = `/f/assets/form.css?v=${createHash('sha256').update(style).digest('hex').slice(0, 12)}`

/** The page of a form. It holds no script and needs none. */
export function formPage({ form, token, carried, values, refusal }: FormPage): Html {
  const problems = new Map(refusal?.issues.map((issue) => [issue.path, issue.message]))
  return layout(
    refusal === null ? form.title : `Error: ${form.title}`,
    html`<h1>${form.title}</h1>
${form.description && html`<p class="description">${form.description}</p>`}
${refusal && summary(form, refusal)}
<form method="post" novalidate action="/f/${form.slug}" accept-charset="utf-8">
${form.fields.map((field) => html`${fieldHtml(field, { values, problems })}\n`)}${decoyHtml()}
${carried.map((field) => hiddenHtml(field.key, String(field.value)))}${hiddenHtml(tokenField, token)}
<button type="submit">${form.submitLabel}</button>
</form>`,
  )
}

export function thanksPage(form: Form): Html {
  return layout(
    form.title,
    html`<div class="done"><svg viewBox="0 0 24 24" width="40" height="40" aria-hidden="true"><circle cx="12" cy="12" r="11"/><path d="M7 12.5l3.4 3.4L17 9"/></svg>
<h1>${form.title}</h1>
<p class="description">${form.thankYou}</p></div>`,
  )
}

/** What people see instead of a form. */
export function noticePage(title: string, message: string): Html {
  return layout(title, html`<h1>${title}</h1>\n<p class="description">${message}</p>`)
}

function summary(form: Form, { message, issues }: Refusal): Html {
  if (issues.length === 0)
    return html`<div class="summary" role="alert" tabindex="-1" autofocus><p>${message}</p></div>`
  const problems = issues.length === 1 ? '1 problem' : `${issues.length} problems`
  return html`<div class="summary" role="alert" tabindex="-1" autofocus><h2>Please fix ${problems}</h2>
<ul>${issues.map((issue) => html`<li>${problemLine(form, issue)}</li>`)}</ul></div>`
}

function problemLine(form: Form, issue: Issue): Html {
  const field = form.fields.find(({ key }) => key === issue.path)
  if (field === undefined) return html`${issue.path} ${issue.message}`
  return html`<a href="#${fieldId(field.key)}">${field.label}</a>: ${sentence(issue.message)}`
}

function layout(title: string, content: Html): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${styleHref}">
</head>
<body>
<main>
${content}
</main>
</body>
</html>
`
}
