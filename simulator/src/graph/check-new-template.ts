import {
  placeholdersOf,
  type SimulatedTemplate,
  type TemplateButton,
  type TemplateComponent,
} from '../simulated-template.ts'
import { checkCodeParts } from './check-authentication.ts'
import { type Body, GraphError, invalidParameter, isObject } from './graph-error.ts'

/** The platform's subcodes for texts that it refuses. */
const subcodes = {
  tooLong: 2388040,
  missingField: 2388043,
  header: 2388047,
  body: 2388072,
  footer: 2388073,
  ratio: 2388293,
  edges: 2388299,
} as const

function refuse(subcode: number, title: string, text: string): never {
  throw new GraphError(100, { message: 'Invalid parameter', subcode, forPeople: { title, text } })
}

/** Returns a new template as the platform stores it. Throws the platform's error for what it refuses. */
export function checkNewTemplate(value: unknown): Omit<SimulatedTemplate, 'id' | 'status'> {
  if (!isObject(value)) throw invalidParameter('The parameter name is required.')
  const { name, language, category, parameter_format: format = 'POSITIONAL', components } = value
  if (typeof name !== 'string' || !/^[a-z0-9_]{1,512}$/.test(name)) {
    throw invalidParameter('Param name must consist of lowercase letters, digits and underscores.')
  }
  if (typeof language !== 'string' || !/^[a-z]{2,3}(_[A-Z]{2})?$/.test(language)) {
    throw invalidParameter('Param language is not a supported language.')
  }
  if (String(category).toUpperCase() === 'AUTHENTICATION') {
    const parts = checkCodeParts(components, language)
    return { name, language, category: 'AUTHENTICATION', parameter_format: 'POSITIONAL', components: parts }
  }
  if (category !== 'MARKETING' && category !== 'UTILITY') throw invalidParameter('Param category is not valid.')
  const upper = String(format).toUpperCase()
  if (upper !== 'POSITIONAL' && upper !== 'NAMED') throw invalidParameter('Param parameter_format is not valid.')
  const parts = checkParts(components, upper)
  const hasCode = parts.some(({ buttons = [] }) => buttons.some(({ type }) => type === 'COPY_CODE'))
  if (hasCode && category === 'UTILITY') throw invalidParameter('Templates of the category UTILITY have no COPY_CODE.')
  return { name, language, category, parameter_format: upper, components: parts }
}

type Format = SimulatedTemplate['parameter_format']

/** Returns the components of a template. Throws the platform's error for what it refuses. */
export function checkParts(value: unknown, format: Format): TemplateComponent[] {
  if (!Array.isArray(value) || !value.every(isObject)) throw invalidParameter('The parameter components is required.')
  const parts = value.map((part) => checkPart(part, format))
  if (parts.filter(({ type }) => type === 'BODY').length !== 1) {
    throw invalidParameter('Param components must have one BODY.')
  }
  return parts
}

function checkPart(part: Body, format: Format): TemplateComponent {
  const type = String(part.type).toUpperCase()
  switch (type) {
    case 'HEADER':
      return checkHeader(part, format)
    case 'BODY':
      return checkBody(part, format)
    case 'FOOTER': {
      const text = textOf(part, 60, 'footer')
      if (/[\n{}]/.test(text)) {
        refuse(subcodes.footer, 'Message footer format is incorrect', "The footer can't have variables or new lines.")
      }
      return { type, text }
    }
    case 'BUTTONS':
      return { type, buttons: checkButtons(part.buttons) }
    default:
      throw invalidParameter(`Param components has an unknown type ${type.slice(0, 40)}.`)
  }
}

function textOf({ text }: Body, most: number, name: string): string {
  if (typeof text !== 'string' || text.trim() === '') {
    refuse(subcodes.missingField, 'Missing field', `The ${name} is missing its text.`)
  }
  if ([...text].length > most) {
    refuse(subcodes.tooLong, 'Character limit exceeded', `The ${name} can have at most ${most} characters.`)
  }
  return text
}

function checkHeader(part: Body, format: Format): TemplateComponent {
  const kind = String(part.format ?? 'TEXT').toUpperCase()
  if (kind === 'LOCATION') return { type: 'HEADER', format: kind }
  if (kind === 'IMAGE' || kind === 'VIDEO' || kind === 'DOCUMENT') {
    const [handle] = listOf(isObject(part.example) ? part.example.header_handle : undefined)
    if (typeof handle !== 'string' || !/^4:/.test(handle)) {
      refuse(subcodes.missingField, 'Missing sample', 'The header is missing its sample, or its handle is not valid.')
    }
    return { type: 'HEADER', format: kind, example: { header_handle: ['https://scontent.example/sample'] } }
  }
  if (kind !== 'TEXT') throw invalidParameter('Param format of the header is not valid.')
  const text = textOf(part, 60, 'header')
  if (/[\n*~`]|\p{Extended_Pictographic}/u.test(text) || placeholdersOf(text).length > 1) {
    const words = "The header can't have new lines, formatting characters, emojis or more than one variable."
    refuse(subcodes.header, 'Message header format is incorrect', words)
  }
  checkExample(part, text, format, 'header_text')
  return { type: 'HEADER', format: kind, text, ...(part.example !== undefined && { example: part.example }) }
}

function checkBody(part: Body, format: Format): TemplateComponent {
  const text = textOf(part, 1024, 'body')
  const names = placeholdersOf(text)
  const parts = text.trim().split(/\{\{[^{}]*\}\}/)
  if (parts.length > 1 && (parts[0] === '' || parts.at(-1) === '')) {
    refuse(
      subcodes.edges,
      "Variables can't be at the start or end",
      "Variables can't be at the start or end of the template.",
    )
  }
  const isNumbered = names.every((name) => names.length >= Number(name) && Number(name) > 0)
  const isNamed = names.every((name) => /^[a-z][a-z0-9_]*$/.test(name))
  if (parts.length - 1 !== text.split('{{').length - 1 || !(format === 'NAMED' ? isNamed : isNumbered)) {
    refuse(
      subcodes.body,
      'Message body format is incorrect',
      'Variables must have the form {{1}} without gaps, or names.',
    )
  }
  const words = parts
    .join(' ')
    .split(/\s+/)
    .filter((word) => /[\p{L}\p{N}]/u.test(word)).length
  if (words < names.length) {
    const explanation = 'This template has too many variables for its length. Reduce them or increase the length.'
    refuse(subcodes.ratio, 'Too many variables', explanation)
  }
  checkExample(part, text, format, 'body_text')
  return { type: 'BODY', text, ...(part.example !== undefined && { example: part.example }) }
}

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

/** Requires a sample value for each variable. */
function checkExample({ example }: Body, text: string, format: Format, field: string): void {
  const names = placeholdersOf(text)
  if (names.length === 0) return
  const samples = isObject(example) ? listOf(example[format === 'NAMED' ? `${field}_named_params` : field]) : []
  const values = format === 'POSITIONAL' && field === 'body_text' ? listOf(samples[0]) : samples
  if (values.length !== names.length) {
    refuse(
      subcodes.missingField,
      'Missing sample',
      `The component of ${field} is missing the expected field(s) (example)`,
    )
  }
}

const most: Record<TemplateButton['type'], number> = { QUICK_REPLY: 10, URL: 2, PHONE_NUMBER: 1, COPY_CODE: 1 }

function checkButtons(value: unknown): TemplateButton[] {
  const buttons = listOf(value).map(checkButton)
  if (buttons.length === 0 || buttons.length > 10) throw invalidParameter('Param buttons must have 1 to 10 entries.')
  for (const [type, count] of Object.entries(most)) {
    if (buttons.filter((button) => button.type === type).length > count) {
      throw invalidParameter(`Param buttons can have ${count} of the type ${type}.`)
    }
  }
  const kinds = buttons.map(({ type }) => type === 'QUICK_REPLY')
  if (kinds.filter((kind, n) => n > 0 && kind !== kinds[n - 1]).length > 1) {
    throw invalidParameter('Invalid combination of quick reply and other buttons: group them.')
  }
  return buttons
}

function checkButton(value: unknown): TemplateButton {
  if (!isObject(value)) throw invalidParameter('Param buttons has an invalid entry.')
  const type = String(value.type).toUpperCase()
  if (type === 'COPY_CODE') {
    const [code] = [value.example].flat()
    if (typeof code !== 'string' || code.length > 20) throw invalidParameter('The button of a code needs an example.')
    return { type, text: 'Copy offer code', example: [code] }
  }
  const text = textOf(value, 25, 'button')
  if (/[\n{}*]|\p{Extended_Pictographic}/u.test(text)) {
    throw invalidParameter("Buttons can't have any variables, newlines, emojis or formatting characters.")
  }
  if (type === 'QUICK_REPLY') return { type, text }
  if (type === 'PHONE_NUMBER') {
    const phone = value.phone_number
    if (typeof phone !== 'string' || phone.length > 20) throw invalidParameter('Param phone_number is not valid.')
    return { type, text, phone_number: phone }
  }
  const { url } = value
  if (type !== 'URL' || typeof url !== 'string' || url.length > 2000 || !/^https?:\/\//.test(url)) {
    throw invalidParameter('Param url of a button is not valid.')
  }
  if (/\{\{/.test(url) && (!url.endsWith('{{1}}') || listOf(value.example).length !== 1)) {
    throw invalidParameter('The variable of a URL must be {{1}} at its end, with an example.')
  }
  return { type, text, url, ...(value.example !== undefined && { example: value.example }) }
}
