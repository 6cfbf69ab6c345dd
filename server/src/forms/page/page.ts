import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Issue } from '../../base/errors.ts'
import { type Html, html } from '../../base/text/html.ts'
import type { CustomField } from '../../leads/lead/custom-fields.ts'
import { decoyField, type Form, tokenField } from '../form/form.ts'
import type { FormField } from '../form/schema.ts'
import { isTicked, type RawFields } from '../submit/submission.ts'

export interface FormPage {
  form: Form
  token: string
  /** Parameters of the address, submitted as hidden inputs. */
  carried: readonly CustomField[]
  values: RawFields
  refusal: Refusal | null
}

/** The reason for showing the page again. */
export interface Refusal {
  message: string
  /** Issues per field; empty if the whole submission was refused. */
  issues: readonly Issue[]
}

export const style = readFileSync(new URL('form.css', import.meta.url), 'utf8')
const styleHref = `/f/assets/form.css?v=${createHash('sha256').update(style).digest('hex').slice(0, 12)}`

/** Renders the page of a form. It contains no script. */
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

/** Renders a message instead of a form. */
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

interface FieldState {
  /** Values typed before, by key. */
  values: RawFields
  /** Problems by key. */
  problems: ReadonlyMap<string, string>
}

export const untouched: FieldState = { values: {}, problems: new Map() }

export const fieldId = (key: string): string => `f-${key}`

/** Renders a field with its label, help text and problem. */
export function fieldHtml(field: FormField, state: FieldState): Html {
  const problem = state.problems.get(field.key)
  const kind = problem === undefined ? 'field' : 'field wrong'
  const notes = [helpHtml(field), problem !== undefined && problemHtml(field, problem)]
  if (field.type === 'multiselect') {
    return html`<fieldset class="${kind}" id="${fieldId(field.key)}" tabindex="-1"${describedBy(field, problem)}>
<legend>${labelText(field)}</legend>${notes}
${(field.options ?? []).map((option) => choiceHtml(field, option, state))}</fieldset>`
  }
  if (field.type === 'boolean') {
    return html`<div class="${kind}">${notes}
<label class="choice"><input type="checkbox" name="${field.key}" value="true"${attributes(field, problem)}${flag(
      'checked',
      isTicked(state.values[field.key]),
    )}> <span>${labelText(field)}</span></label></div>`
  }
  return html`<div class="${kind}"><label for="${fieldId(field.key)}">${labelText(field)}</label>${notes}
${controlHtml(field, textOf(state.values[field.key]), problem)}</div>`
}

/** Renders a honeypot: invisible and unreachable for people, filled by bots that fill every input. */
function decoyHtml(): Html {
  return html`<div aria-hidden="true" class="aside"><label>Homepage <input name="${decoyField}" tabindex="-1" autocomplete="off"></label></div>`
}

function hiddenHtml(name: string, value: string): Html {
  return html`<input type="hidden" name="${name}" value="${value}">`
}

function labelText(field: FormField): Html {
  return html`${field.label}${!field.required && field.type !== 'boolean' && html` <span class="optional">optional</span>`}`
}

function helpHtml(field: FormField): Html | null {
  return field.help ? html`<p class="help" id="${fieldId(field.key)}-help">${field.help}</p>` : null
}

function problemHtml(field: FormField, problem: string): Html {
  return html`<p class="problem" id="${fieldId(field.key)}-problem">${sentence(problem)}</p>`
}

export function sentence(problem: string): string {
  return problem.charAt(0).toUpperCase() + problem.slice(1) + (/[.!?]$/.test(problem) ? '' : '.')
}

function controlHtml(field: FormField, value: string, problem: string | undefined): Html {
  const common = html`name="${field.key}"${attributes(field, problem)}`
  if (field.type === 'textarea' || field.key === 'notes') {
    // Parsers drop the line break after the tag, so that a value's own leading one is kept.
    return html`<textarea rows="4" ${common}${placeholder(field)}>
${value}</textarea>`
  }
  if (field.type === 'select') {
    return html`<select ${common}><option value="">${field.placeholder || 'Select an option'}</option>${(
      field.options ?? []
    ).map((option) => html`<option${flag('selected', option === value)}>${option}</option>`)}</select>`
  }
  return html`<input ${common}${inputKind(field)}${placeholder(field)} value="${value}">`
}

function choiceHtml(field: FormField, option: string, state: FieldState): Html {
  const chosen = [state.values[field.key] ?? []].flat().includes(option)
  return html`<label class="choice"><input type="checkbox" name="${field.key}" value="${option}"${flag('checked', chosen)}> <span>${option}</span></label>`
}

function attributes(field: FormField, problem: string | undefined): Html {
  return html` id="${fieldId(field.key)}"${flag('required', field.required)}${
    problem !== undefined && html` aria-invalid="true"`
  }${describedBy(field, problem)}`
}

function describedBy(field: FormField, problem: string | undefined): Html | null {
  const id = fieldId(field.key)
  const ids = [field.help && `${id}-help`, problem !== undefined && `${id}-problem`].filter(Boolean).join(' ')
  return ids === '' ? null : html` aria-describedby="${ids}"`
}

function flag(name: 'checked' | 'selected' | 'required', on: boolean): Html | null {
  return on ? html` ${name}` : null
}

function placeholder(field: FormField): Html | null {
  return field.placeholder ? html` placeholder="${field.placeholder}"` : null
}

/** Returns the input type, which determines a phone's keyboard, and autocomplete. */
function inputKind({ key, type }: FormField): Html {
  if (key === 'firstName') return html` type="text" autocomplete="given-name"`
  if (key === 'lastName') return html` type="text" autocomplete="family-name"`
  switch (type) {
    case 'email':
      return html` type="email" inputmode="email" autocomplete="${key === 'email' ? 'email' : 'off'}"`
    case 'phone':
      return html` type="tel" inputmode="tel" autocomplete="${key === 'phone' ? 'tel' : 'off'}"`
    case 'url':
      return html` type="text" inputmode="url" autocapitalize="none" spellcheck="false"`
    case 'number':
      return html` type="text" inputmode="decimal"`
    case 'date':
      return html` type="date"`
    default:
      return html` type="text"`
  }
}

function textOf(value: unknown): string {
  const first = Array.isArray(value) ? value[0] : value
  return typeof first === 'string' || typeof first === 'number' ? String(first) : ''
}
