import { type JsonObject, listOf, objectOf, textOf } from '../waba/json.ts'

/** What a send must provide besides body parameters and the file of a header; absent: nothing of that kind. */
export interface TemplateInputs {
  /** A text header with one variable, `{{1}}`; `name` is the platform's name of it. */
  headerText?: { text: string; name: string | null }
  headerLocation?: true
  /** Buttons that need a value each, with their position among all buttons. `otp`: the code that is in the body, again. */
  buttons?: { index: number; type: 'url' | 'copy_code' | 'otp'; text: string; url: string | null }[]
}

/** Returns whether the platform can load the file of a header from an address. */
export function isFileUrl(address: string): boolean {
  const url = URL.parse(address)
  return url !== null && url.protocol === 'https:' && url.username === '' && url.password === '' && !/\s/.test(address)
}

/** Where the platform's link of a button for one-time passwords leads; it has the kind of button as a parameter. */
export const codeLink = /^https:\/\/www\.whatsapp\.com\/otp\/code\//i

const variable = /\{\{\s*(\w+)\s*\}\}/g

/**
 * Returns what the components need; null if they need something that sends cannot provide, such as a flow. A template
 * for authentication has one button, for its code.
 */
export function inputsOf(components: readonly JsonObject[], isAuthentication = false): TemplateInputs | null {
  const inputs: TemplateInputs = {}
  if (!components.every((part) => addInputs(inputs, part))) return null
  const codes = (inputs.buttons ?? []).filter(({ type }) => type === 'otp')
  return codes.length === (isAuthentication ? 1 : 0) ? inputs : null
}

export const typeOf = (part: JsonObject): string => textOf(part.type)?.toUpperCase() ?? ''

/** Adds what a component needs; returns false if sends cannot provide it. */
function addInputs(inputs: TemplateInputs, part: JsonObject): boolean {
  switch (typeOf(part)) {
    case 'BODY':
    case 'FOOTER':
      return true
    case 'HEADER':
      return addHeader(inputs, textOf(part.format)?.toUpperCase() ?? 'TEXT', textOf(part.text) ?? '')
    case 'BUTTONS':
      return listOf(part.buttons).every((button, index) => addButton(inputs, objectOf(button), index))
    default:
      return false
  }
}

function addHeader(inputs: TemplateInputs, format: string, text: string): boolean {
  if (format === 'LOCATION') {
    inputs.headerLocation = true
    return true
  }
  if (format !== 'TEXT') return ['IMAGE', 'VIDEO', 'DOCUMENT'].includes(format)
  const names = new Set([...text.matchAll(variable)].map(([, name = '']) => name))
  const [name] = names
  if (name !== undefined) {
    inputs.headerText = { text: text.replace(variable, '{{1}}'), name: /^\d+$/.test(name) ? null : name }
  }
  return names.size <= 1
}

function addButton(inputs: TemplateInputs, button: JsonObject, index: number): boolean {
  const type = typeOf(button)
  const [text, url] = [textOf(button.text) ?? '', textOf(button.url) ?? '']
  // Submitted as OTP, and listed as a link.
  if (type === 'OTP' || (type === 'URL' && codeLink.test(url))) {
    inputs.buttons = [...(inputs.buttons ?? []), { index, type: 'otp', text, url: null }]
    return true
  }
  if (type === 'COPY_CODE') {
    inputs.buttons = [...(inputs.buttons ?? []), { index, type: 'copy_code', text, url: null }]
    return true
  }
  if (type === 'URL') {
    if (url.search(variable) >= 0) inputs.buttons = [...(inputs.buttons ?? []), { index, type: 'url', text, url }]
    return true
  }
  return type === 'QUICK_REPLY' || type === 'PHONE_NUMBER' || type === 'VOICE_CALL'
}
