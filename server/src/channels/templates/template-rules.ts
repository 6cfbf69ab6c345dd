import { isBlank } from '../../base/text/external-text.ts'
import {
  emptyOtp,
  isFileHeader,
  type TemplateButton,
  type TemplateContent,
  type TemplateOtp,
  variablesOf,
} from './template-content.ts'

/** Limits of the platform, in characters unless named otherwise. */
export const templateLimits = {
  name: 512,
  header: 60,
  body: 1024,
  footer: 60,
  buttonText: 25,
  url: 2000,
  phone: 20,
  code: 15,
  buttons: 10,
  buttonsOfType: { quick_reply: 10, url: 2, phone: 1, copy_code: 1 },
} as const

/** Limits of templates for authentication. */
const otpLimits = { expirationMinutes: 90, apps: 5, packageName: 224 } as const

/** What the platform would refuse. A warning is likely to be refused in review. */
export interface TemplateProblem {
  /** Path in the content, such as `buttons[1].text`. */
  path: string
  message: string
  isWarning: boolean
}

type Add = (path: string, message: string) => void

/** Returns why the platform would refuse a template; empty if it can be submitted. `hasFile`: a sample file is uploaded. */
export function findTemplateProblems(content: TemplateContent, hasFile: boolean): TemplateProblem[] {
  const problems: TemplateProblem[] = []
  const refuse: Add = (path, message) => problems.push({ path, message, isWarning: false })
  const warn: Add = (path, message) => problems.push({ path, message, isWarning: true })
  checkName(content, refuse)
  if (content.category === 'AUTHENTICATION') {
    checkOtp(content.otp ?? emptyOtp, refuse)
    return problems
  }
  checkHeader(content, hasFile, refuse)
  checkBody(content, refuse, warn)
  checkFooter(content, refuse)
  checkButtons(content, refuse)
  return problems
}

const lengthOf = (text: string): number => [...text].length

/** Adds a problem if a text is missing or too long; returns whether it is fine. */
function checkText(path: string, text: string, limit: number, add: Add): boolean {
  if (isBlank(text)) add(path, 'is required')
  else if (lengthOf(text) > limit) add(path, `must have at most ${limit} characters`)
  else return true
  return false
}

function checkName({ name, language }: TemplateContent, add: Add): void {
  if (checkText('name', name, templateLimits.name, add) && !/^[a-z0-9_]+$/.test(name)) {
    add('name', 'must have only lowercase letters, digits and underscores')
  }
  if (!/^[a-z]{2,3}(_[A-Z]{2})?$/.test(language)) add('language', 'must be a language code such as pt_BR')
}

function checkHeader({ header, format }: TemplateContent, hasFile: boolean, add: Add): void {
  if (isFileHeader(header.type) && !hasFile) add('header.file', 'needs a sample file')
  if (header.type !== 'text' || !checkText('header.text', header.text, templateLimits.header, add)) return
  if (!isPlain(header.text)) add('header.text', noFormatting)
  if (!checkVariables('header.text', header.text, format, add)) return
  const [name, ...others] = variablesOf(header.text)
  if (others.length > 0) add('header.text', 'may contain one variable')
  else if (name !== undefined) checkSample('header.sample', name, header.sample, add)
}

const noFormatting = 'must not contain line breaks, emojis or formatting characters'

/** Variables count as plain: their names may have underscores. */
const isPlain = (text: string): boolean =>
  !/[\n\r\t*~`]|\p{Extended_Pictographic}|\p{Regional_Indicator}/u.test(text.replaceAll(/\{\{[^{}]*\}\}/g, ''))

function checkBody({ body, format, samples }: TemplateContent, add: Add, warn: Add): void {
  if (!checkText('body', body, templateLimits.body, add) || !checkVariables('body', body, format, add)) return
  const parts = body.trim().split(/\{\{[^{}]*\}\}/)
  const [first = '', last = ''] = [parts[0], parts.at(-1)]
  if (parts.length > 1 && (first === '' || last === '')) add('body', 'must not begin or end with a variable')
  else if (parts.length > 1 && (!hasWord(first) || !hasWord(last))) {
    warn('body', 'should not have only punctuation before its first or after its last variable')
  }
  if (parts.slice(1, -1).some((part) => part.trim() === '')) add('body', 'must have text between variables')
  const names = variablesOf(body)
  const words = parts.join(' ').match(/[\p{L}\p{N}\p{M}]+/gu)?.length ?? 0
  if (words < 2 * names.length + 1) warn('body', 'has few words for its variables: the platform may refuse it')
  for (const name of names) {
    checkSample(`samples.${name}`, name, samples.find((sample) => sample.name === name)?.value ?? '', add)
  }
}

const hasWord = (text: string): boolean => /[\p{L}\p{N}]/u.test(text)

/** Adds a problem for variables with a wrong name or number; returns whether they are fine. */
function checkVariables(path: string, text: string, format: TemplateContent['format'], add: Add): boolean {
  if (/\{\{|\}\}/.test(text.replaceAll(/\{\{[^{}]*\}\}/g, ''))) {
    add(path, 'must have two braces on each side of a variable')
    return false
  }
  const names = variablesOf(text)
  if (format === 'named') {
    if (names.every((name) => /^[a-z][a-z0-9_]{0,59}$/.test(name))) return true
    add(path, 'must name its variables with lowercase letters, digits and underscores, such as {{first_name}}')
    return false
  }
  const numbers = names.map(Number).sort((a, b) => a - b)
  if (names.every((name) => /^\d{1,3}$/.test(name)) && numbers.every((number, n) => number === n + 1)) return true
  add(path, 'must number its variables from {{1}} without gaps')
  return false
}

function checkSample(path: string, name: string, sample: string, add: Add): void {
  if (isBlank(sample)) add(path, `needs a sample value for {{${name}}}`)
  else if (/[\n\r\t]| {5}/.test(sample)) add(path, 'must not contain a line break, a tab or more than four spaces')
}

function checkFooter({ footer }: TemplateContent, add: Add): void {
  if (isBlank(footer)) return
  if (!checkText('footer', footer, templateLimits.footer, add)) return
  if (/\{\{|\}\}/.test(footer)) add('footer', 'must not contain a variable')
  else if (/[\n\r]/.test(footer)) add('footer', 'must not contain a line break')
}

function checkButtons({ buttons, category }: TemplateContent, add: Add): void {
  const { buttonsOfType, buttons: limit } = templateLimits
  if (buttons.length > limit) add('buttons', `must have at most ${limit} buttons`)
  for (const [type, most] of Object.entries(buttonsOfType)) {
    if (buttons.filter((button) => button.type === type).length > most) {
      add('buttons', `must have at most ${most} of the kind ${type}`)
    }
  }
  // Quick replies first or last: more than one change of kind would separate them.
  const changes = buttons.filter(
    ({ type }, n) => n > 0 && (type === 'quick_reply') !== (buttons[n - 1]?.type === 'quick_reply'),
  )
  if (changes.length > 1) add('buttons', 'must have its quick replies together, before or after the others')
  const labels = new Set<string>()
  for (const [n, button] of buttons.entries()) {
    checkButton(`buttons[${n}]`, button, add)
    if (button.type === 'copy_code') {
      if (category !== 'MARKETING') add(`buttons[${n}].value`, 'is only for marketing templates')
      continue
    }
    const label = button.text.trim()
    if (label !== '' && labels.has(label)) add(`buttons[${n}].text`, 'must differ from the other buttons')
    labels.add(label)
  }
}

function checkButton(path: string, { type, text, value, sample }: TemplateButton, add: Add): void {
  if (type !== 'copy_code' && checkText(`${path}.text`, text, templateLimits.buttonText, add)) {
    if (/\{\{|\}\}/.test(text)) add(`${path}.text`, 'must not contain a variable')
    else if (!isPlain(text)) add(`${path}.text`, noFormatting)
  }
  if (type === 'url') checkUrl(path, value, sample, add)
  if (type === 'phone' && checkText(`${path}.value`, value, templateLimits.phone, add)) {
    if (!/^\+?\d(?:[ ().-]{0,2}\d){6,14}$/.test(value.trim())) add(`${path}.value`, 'must be a phone number')
  }
  if (type === 'copy_code' && checkText(`${path}.value`, value, templateLimits.code, add)) {
    if (!/^[A-Za-z0-9]+$/.test(value)) add(`${path}.value`, 'must have only letters and digits')
  }
}

function checkUrl(path: string, url: string, sample: string, add: Add): void {
  if (!checkText(`${path}.value`, url, templateLimits.url, add)) return
  const [base = '', ...rest] = url.split('{{1}}')
  const isUrl = /^https?:\/\/[^/\s]/i.test(url) && !/\s/.test(url) && URL.canParse(base)
  if (!isUrl) add(`${path}.value`, 'must be an http or https URL')
  else if (rest.join('') !== '' || rest.length > 1 || /[{}]/.test(base)) {
    add(`${path}.value`, 'may have one variable, {{1}}, at its end')
  } else if (rest.length === 1) checkSample(`${path}.sample`, '1', sample, add)
}

function checkOtp({ type, expiresInMinutes: minutes, apps, ...otp }: TemplateOtp, add: Add): void {
  if (minutes !== null && (minutes < 1 || minutes > otpLimits.expirationMinutes)) {
    add('otp.expiresInMinutes', `must be from 1 to ${otpLimits.expirationMinutes}`)
  }
  const labels = type === 'copy_code' ? (['buttonText'] as const) : (['buttonText', 'autofillText'] as const)
  for (const name of labels) {
    if (isBlank(otp[name]) || !checkText(`otp.${name}`, otp[name], templateLimits.buttonText, add)) continue
    if (!isPlain(otp[name]) || /[{}]/.test(otp[name])) add(`otp.${name}`, noFormatting)
  }
  if (type === 'copy_code') return
  if (apps.length === 0) add('otp.apps', 'needs at least one app')
  if (apps.length > otpLimits.apps) add('otp.apps', `must have at most ${otpLimits.apps} items`)
  for (const [n, { packageName, signatureHash }] of apps.entries()) {
    if (packageName.length > otpLimits.packageName || !/^[a-zA-Z]\w*(?:\.[a-zA-Z]\w*)+$/.test(packageName)) {
      add(`otp.apps[${n}].packageName`, 'must be the name of an Android package, such as com.example.shop')
    }
    if (!/^[A-Za-z0-9+/=]{11}$/.test(signatureHash)) {
      add(`otp.apps[${n}].signatureHash`, 'must have the 11 letters, digits, +, / or = of the hash of its signing key')
    }
  }
  if (type === 'zero_tap' && !otp.acceptsTerms) add('otp.acceptsTerms', 'must be accepted')
}

const dayMs = 86_400_000

/** A template that is to be edited. */
export interface EditedTemplate {
  name: string
  language: string
  category: string
  status: string
  /** Earlier edits; any order. */
  editedAt: readonly Date[]
}

export type EditProblem = 'status' | 'daily' | 'monthly' | 'name' | 'language' | 'category'

/** Returns why the platform would refuse an edit now; null if it accepts it. Without content: any edit. */
export function findEditProblem(one: EditedTemplate, content: TemplateContent | null, now: Date): EditProblem | null {
  if (!editableStatuses.has(one.status)) return 'status'
  const since = (days: number) => one.editedAt.filter((at) => now.getTime() - at.getTime() < days * dayMs).length
  const isApproved = one.status === 'APPROVED'
  if (isApproved && since(1) >= 1) return 'daily'
  if (isApproved && since(30) >= 10) return 'monthly'
  if (content === null) return null
  if (content.name !== one.name) return 'name'
  if (content.language !== one.language) return 'language'
  return isApproved && content.category !== one.category.toUpperCase() ? 'category' : null
}

const editableStatuses: ReadonlySet<string> = new Set(['APPROVED', 'REJECTED', 'PAUSED'])
