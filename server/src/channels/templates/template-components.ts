import { type JsonObject, listOf, objectOf, textOf } from '../waba/json.ts'
import {
  emptyContent,
  emptyOtp,
  isFileHeader,
  otpTypes,
  type TemplateButton,
  type TemplateContent,
  type TemplateOtp,
  variablesOf,
} from './template-content.ts'
import { codeLink } from './template-inputs.ts'

/** Returns the platform's structure of a template. `handle`: of the uploaded sample file of its header. */
export function componentsOf(content: TemplateContent, handle: string | null): JsonObject[] {
  const { body, footer, buttons } = content
  if (content.category === 'AUTHENTICATION') return otpComponentsOf(content.otp ?? emptyOtp)
  const names = variablesOf(body)
  const samples = names.map((name) => content.samples.find((one) => one.name === name)?.value.trim() ?? '')
  return [
    ...headerOf(content, handle),
    { type: 'BODY', text: body.trim(), ...exampleOf('body_text', content, names, samples) },
    ...(footer.trim() === '' ? [] : [{ type: 'FOOTER', text: footer.trim() }]),
    ...(buttons.length === 0 ? [] : [{ type: 'BUTTONS', buttons: buttons.map(buttonOf) }]),
  ]
}

function otpComponentsOf(otp: TemplateOtp): JsonObject[] {
  const { type, hasSecurityNote, expiresInMinutes: minutes, buttonText, autofillText, apps, acceptsTerms } = otp
  const isForApps = type !== 'copy_code'
  const button = {
    ...{ type: 'OTP', otp_type: type.toUpperCase() },
    ...(buttonText.trim() !== '' && { text: buttonText.trim() }),
    ...(isForApps && autofillText.trim() !== '' && { autofill_text: autofillText.trim() }),
    ...(isForApps && {
      supported_apps: apps.map((app) => ({ package_name: app.packageName, signature_hash: app.signatureHash })),
    }),
    ...(type === 'zero_tap' && { zero_tap_terms_accepted: acceptsTerms }),
  }
  return [
    { type: 'BODY', add_security_recommendation: hasSecurityNote },
    ...(minutes === null ? [] : [{ type: 'FOOTER', code_expiration_minutes: minutes }]),
    { type: 'BUTTONS', buttons: [button] },
  ]
}

function headerOf(content: TemplateContent, handle: string | null): JsonObject[] {
  const { type, text, sample } = content.header
  if (type === 'none') return []
  if (type === 'location') return [{ type: 'HEADER', format: 'LOCATION' }]
  if (isFileHeader(type)) {
    return [{ type: 'HEADER', format: type.toUpperCase(), example: { header_handle: [handle ?? ''] } }]
  }
  const example = exampleOf('header_text', content, variablesOf(text), [sample.trim()])
  return [{ type: 'HEADER', format: 'TEXT', text: text.trim(), ...example }]
}

/** Samples of positional variables in the order of their numbers; those of a body are a list in a list. */
function exampleOf(
  field: 'body_text' | 'header_text',
  { format }: TemplateContent,
  names: readonly string[],
  samples: readonly string[],
): JsonObject {
  if (names.length === 0) return {}
  if (format === 'named') {
    const params = names.map((name, n) => ({ param_name: name, example: samples[n] ?? '' }))
    return { example: { [`${field}_named_params`]: params } }
  }
  const inOrder = names
    .map((name, n) => ({ number: Number(name), sample: samples[n] ?? '' }))
    .sort((a, b) => a.number - b.number)
    .map(({ sample }) => sample)
  return { example: { [field]: field === 'body_text' ? [inOrder] : inOrder } }
}

function buttonOf({ type, text, value, sample }: TemplateButton): JsonObject {
  const label = { text: text.trim() }
  switch (type) {
    case 'quick_reply':
      return { type: 'QUICK_REPLY', ...label }
    case 'phone':
      return { type: 'PHONE_NUMBER', ...label, phone_number: value.trim() }
    case 'copy_code':
      return { type: 'COPY_CODE', example: value.trim() }
    case 'url': {
      const url = value.trim()
      const example = url.includes('{{1}}') ? { example: [url.replace('{{1}}', sample.trim())] } : {}
      return { type: 'URL', ...label, url, ...example }
    }
    default:
      return type satisfies never
  }
}

/** Returns what a template of the platform consists of; null if it has parts that cannot be written here. */
export function contentOf(value: unknown): TemplateContent | null {
  const { name, language, category, parameter_format, components } = objectOf(value)
  const upper = textOf(category)?.toUpperCase()
  if (upper !== 'MARKETING' && upper !== 'UTILITY' && upper !== 'AUTHENTICATION') return null
  const content: TemplateContent = {
    ...emptyContent,
    name: textOf(name) ?? '',
    language: (textOf(language) ?? '').replaceAll('-', '_'),
    category: upper,
    format: textOf(parameter_format)?.toUpperCase() === 'NAMED' ? 'named' : 'positional',
  }
  if (upper === 'AUTHENTICATION') return withOtp(content, listOf(components).map(objectOf))
  return listOf(components)
    .map(objectOf)
    .every((part) => addPart(content, part))
    ? content
    : null
}

/** Reads a template for authentication, as it was submitted or as the platform lists it; null for another structure. */
function withOtp(content: TemplateContent, parts: readonly JsonObject[]): TemplateContent | null {
  const partOf = (type: string) => parts.find((part) => textOf(part.type)?.toUpperCase() === type) ?? {}
  const [body, footer] = [partOf('BODY'), partOf('FOOTER')]
  const [button, ...others] = listOf(partOf('BUTTONS').buttons).map(objectOf)
  if (button === undefined || others.length > 0) return null
  const link = textOf(button.url) ?? ''
  const url = codeLink.test(link) && URL.canParse(link) ? new URL(link).searchParams : new URLSearchParams()
  const type = (textOf(button.otp_type) ?? url.get('otp_type'))?.toLowerCase()
  const known = otpTypes.find((one) => one === type)
  if (known === undefined) return null
  const { code_expiration_minutes: minutes } = footer
  const listed = listOf(button.supported_apps).map(objectOf)
  const one = { package_name: url.get('package_name'), signature_hash: url.get('signature_hash') }
  const apps = listed.length > 0 || one.package_name === null ? listed : [one]
  const otp: TemplateOtp = {
    type: known,
    hasSecurityNote: body.add_security_recommendation === true,
    expiresInMinutes: typeof minutes === 'number' && Number.isInteger(minutes) ? minutes : null,
    buttonText: (textOf(button.text) ?? '').slice(0, 100),
    autofillText: (textOf(button.autofill_text) ?? url.get('cta_display_name') ?? '').slice(0, 100),
    apps: apps.slice(0, 10).map((app) => ({
      packageName: (textOf(app.package_name) ?? '').slice(0, 300),
      signatureHash: (textOf(app.signature_hash) ?? '').slice(0, 100),
    })),
    // Without it, there would be no such template.
    acceptsTerms: known === 'zero_tap',
  }
  return { ...content, body: textOf(body.text) ?? '', footer: textOf(footer.text) ?? '', otp }
}

/** Adds a component to the content; returns false for one that cannot be written here. */
function addPart(content: TemplateContent, part: JsonObject): boolean {
  const text = textOf(part.text) ?? ''
  switch (textOf(part.type)?.toUpperCase()) {
    case 'HEADER': {
      const header = parseHeader(part, text)
      if (header !== null) content.header = header
      return header !== null
    }
    case 'BODY':
      content.body = text
      content.samples = variablesOf(text).map((name, n) => ({ name, value: sampleOf(part, 'body_text', name, n) }))
      return true
    case 'FOOTER':
      content.footer = text
      return true
    case 'BUTTONS': {
      const buttons = listOf(part.buttons).map((button) => parseButton(objectOf(button)))
      content.buttons = buttons.filter((button) => button !== null)
      return content.buttons.length === buttons.length
    }
    default:
      return false
  }
}

function parseHeader(part: JsonObject, text: string): TemplateContent['header'] | null {
  const type = textOf(part.format)?.toLowerCase() ?? 'text'
  const [name] = variablesOf(text)
  if (type === 'text') {
    return { type, text, sample: name === undefined ? '' : sampleOf(part, 'header_text', name, 0) }
  }
  // A sample file of the platform cannot be submitted again.
  return type === 'location' || isFileHeader(type) ? { type, text: '', sample: '' } : null
}

function sampleOf(part: JsonObject, field: string, name: string, index: number): string {
  const example = objectOf(part.example)
  const named = listOf(example[`${field}_named_params`]).map(objectOf)
  const found = named.find((one) => one.param_name === name)
  if (found !== undefined) return textOf(found.example) ?? ''
  const listed = listOf(example[field])
  const values = Array.isArray(listed[0]) ? listed[0] : listed
  return textOf(values[/^\d+$/.test(name) ? Number(name) - 1 : index]) ?? ''
}

function parseButton(button: JsonObject): TemplateButton | null {
  const text = textOf(button.text) ?? ''
  const [example] = Array.isArray(button.example) ? button.example : [button.example]
  const sample = textOf(example) ?? ''
  switch (textOf(button.type)?.toUpperCase()) {
    case 'QUICK_REPLY':
      return { type: 'quick_reply', text, value: '', sample: '' }
    case 'PHONE_NUMBER':
      return { type: 'phone', text, value: textOf(button.phone_number) ?? '', sample: '' }
    case 'COPY_CODE':
      return { type: 'copy_code', text: '', value: sample, sample: '' }
    case 'URL': {
      const value = textOf(button.url) ?? ''
      const [base = ''] = value.split('{{1}}')
      // The platform returns the whole URL as its sample.
      return { type: 'url', text, value, sample: sample.startsWith(base) ? sample.slice(base.length) : sample }
    }
    default:
      return null
  }
}

/** Returns whether two templates have the same texts, as after a submission whose answer was lost. */
export function hasSameTexts(one: TemplateContent, other: TemplateContent): boolean {
  const textsOf = ({ format, header, body, footer, buttons, category, otp }: TemplateContent) => {
    // The platform writes the texts for authentication.
    if (category === 'AUTHENTICATION') return JSON.stringify([otp?.type, otp?.hasSecurityNote, otp?.expiresInMinutes])
    return JSON.stringify([
      ...[format, header.type, header.type === 'text' ? header.text.trim() : '', body.trim(), footer.trim()],
      // The platform may write phone numbers and URLs in another way, and writes the label of a code itself.
      buttons.map(({ type, text }) => [type, type === 'copy_code' ? '' : text.trim()]),
    ])
  }
  return textsOf(one) === textsOf(other)
}
