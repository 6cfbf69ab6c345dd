import type { FileStore } from '../files/file-store.ts'
import type { FileKind, Place, ShownFile } from '../files/present-file.ts'
import { componentOf, fillPlaceholders, placeholdersOf, type SimulatedTemplate } from '../simulated-template.ts'
import { checkPlace, parseFileReference } from './check-content.ts'
import { type Body, GraphError, invalidParameter, isObject, missingParameter } from './graph-error.ts'

const maxFilled = { alone: 32_768, withOthers: 1024 }

export interface FilledTemplate {
  template: SimulatedTemplate
  text: string
  header: string | null
  /** The one-time password of a template for authentication. */
  code: string | null
  /** What quick replies return, by their texts. */
  payloads: Record<string, string>
  /** Parts of a header that are not text. */
  parts: { file?: ShownFile; place?: Place }
  failWith: number | null
}

/** Returns the template with its parameters filled in. Throws the platform's error if the request does not fit it. */
export function checkTemplate(
  value: unknown,
  { templates, files }: { templates: Iterable<SimulatedTemplate>; files: FileStore },
  numberId: string,
  isForUserId: boolean,
): FilledTemplate {
  if (!isObject(value)) throw missingParameter('Parameter template is required.')
  const { name, language, components = [] } = value
  if (typeof name !== 'string') throw missingParameter('Parameter template.name is required.')
  if (!isObject(language) || typeof language.code !== 'string') {
    throw missingParameter('Parameter template.language.code is required.')
  }
  if (!Array.isArray(components)) throw invalidParameter("Param template['components'] must be an array.")
  const template = findSendable(templates, name, language.code)
  if (isForUserId && template.category === 'AUTHENTICATION') throw new GraphError(131062)

  const header = checkHeader(template, findGiven(components, 'header'), files, numberId)
  checkButtons(template, components)
  const code = template.category === 'AUTHENTICATION' ? checkCode(components) : null
  const text = fillText(template, 'BODY', findGiven(components, 'body'))
  const isAlone = template.components.length === 1
  if (text.length > (isAlone ? maxFilled.alone : maxFilled.withOthers)) {
    throw new GraphError(132005, { details: `body: filled text has ${text.length} characters` })
  }
  return { template, text, code, payloads: payloadsOf(template, components), ...header }
}

/** Returns the payloads of quick replies; without one, a quick reply returns its text. */
function payloadsOf(template: SimulatedTemplate, components: readonly unknown[]): Record<string, string> {
  const buttons = componentOf(template, 'BUTTONS')?.buttons ?? []
  const given = components.filter(isObject).flatMap((component) => {
    const [parameter] = parametersOf(component)
    const button = buttons[Number(component.index)]
    const isReply = component.sub_type === 'quick_reply' && button?.type === 'QUICK_REPLY'
    return isReply && typeof parameter?.payload === 'string' ? [[button.text, parameter.payload.slice(0, 256)]] : []
  })
  return Object.fromEntries(given)
}

const maxCodeLength = 15

/** Returns the code, which must be the same in the body and on the button. */
function checkCode(components: readonly unknown[]): string {
  const [inBody] = parametersOf(findGiven(components, 'body'))
  const [onButton] = parametersOf(findGiven(components, 'button'))
  const code = inBody?.text
  if (typeof code !== 'string' || code.length > maxCodeLength || code !== onButton?.text) {
    throw new GraphError(132012, {
      details: `The code must be the same twice, with at most ${maxCodeLength} characters`,
    })
  }
  return code
}

function findSendable(templates: Iterable<SimulatedTemplate>, name: string, language: string): SimulatedTemplate {
  const found = [...templates].find((template) => template.name === name && template.language === language)
  if (found?.status === 'PAUSED') throw new GraphError(132015)
  if (found?.status === 'DISABLED') throw new GraphError(132016)
  if (found?.status !== 'APPROVED') {
    throw new GraphError(132001, { details: `template name (${name}) does not exist in ${language}` })
  }
  return found
}

function findGiven(components: readonly unknown[], type: string): Body | undefined {
  return components.filter(isObject).find((component) => String(component.type).toLowerCase() === type)
}

type Header = Pick<FilledTemplate, 'header' | 'parts' | 'failWith'>

function checkHeader(template: SimulatedTemplate, given: Body | undefined, files: FileStore, numberId: string): Header {
  const header = componentOf(template, 'HEADER')
  if (header === undefined) return { header: null, parts: {}, failWith: null }
  const { format } = header
  if (format === 'TEXT' || format === undefined) {
    return { header: fillText(template, 'HEADER', given), parts: {}, failWith: null }
  }
  const [first] = parametersOf(given)
  if (first?.type !== format.toLowerCase()) {
    throw new GraphError(132012, { details: `header: Format mismatch, expected ${format}, received UNKNOWN` })
  }
  if (format === 'LOCATION') return { header: format, parts: { place: checkPlace(first.location) }, failWith: null }
  const kind = headerKinds[format]
  const value = first[format.toLowerCase()]
  if (kind === undefined || !isObject(value))
    throw missingParameter(`header: Parameter ${format.toLowerCase()} is required.`)
  const name = typeof value.filename === 'string' ? value.filename.slice(0, 240) : null
  const { file, failWith } = parseFileReference(kind, value, files, numberId, name)
  return { header: format, parts: { file }, failWith }
}

const headerKinds: Record<string, FileKind> = { IMAGE: 'image', VIDEO: 'video', DOCUMENT: 'document' }

function checkButtons(template: SimulatedTemplate, components: readonly unknown[]): void {
  const given = components.filter(isObject).filter(({ type }) => String(type).toLowerCase() === 'button')
  const buttons = componentOf(template, 'BUTTONS')?.buttons ?? []
  for (const [index, button] of buttons.entries()) {
    const isCode = button.type === 'COPY_CODE'
    const value = given.find((component) => String(component.index) === String(index))
    const [parameter] = parametersOf(value)
    if (!isCode && placeholdersOf(button.url ?? '').length === 0) {
      // A quick reply may have a payload.
      if (parameter === undefined || button.type === 'QUICK_REPLY') continue
      throw new GraphError(132000, { details: `buttons: Button at index ${index} takes no parameter` })
    }
    if (parameter === undefined) {
      throw missingParameter(`buttons: Button at index ${index} of type ${button.type} requires a parameter`)
    }
    const [subType, type, field] = isCode ? ['copy_code', 'coupon_code', 'coupon_code'] : ['url', 'text', 'text']
    const text = parameter[field]
    const isRight = String(value?.sub_type).toLowerCase() === subType && parameter.type === type
    if (isRight && typeof text === 'string' && text !== '' && (!isCode || text.length <= 20)) continue
    throw new GraphError(132012, { details: `buttons: Button at index ${index} expects ${type} for ${button.type}` })
  }
}

function parametersOf(component: Body | undefined): Body[] {
  return Array.isArray(component?.parameters) ? component.parameters.filter(isObject) : []
}

function fillText(template: SimulatedTemplate, type: 'HEADER' | 'BODY', given: Body | undefined): string {
  const text = componentOf(template, type)?.text ?? ''
  const names = placeholdersOf(text)
  const parameters = parametersOf(given)
  const part = type.toLowerCase()
  if (parameters.length !== names.length) {
    const count = `number of localizable_params (${parameters.length}) does not match`
    throw new GraphError(132000, { details: `${part}: ${count} the expected number of params (${names.length})` })
  }
  const values = new Map<string, string>()
  for (const [index, parameter] of parameters.entries()) {
    values.set(nameOf(template, parameter, names[index] ?? '', part), textOf(parameter, part))
  }
  if (names.every((name) => values.has(name))) return fillPlaceholders(text, values)
  throw new GraphError(132012, { details: `${part}: a parameter of the template has no value` })
}

function nameOf(
  { parameter_format: format }: SimulatedTemplate,
  parameter: Body,
  position: string,
  part: string,
): string {
  if (format === 'POSITIONAL') return position
  if (typeof parameter.parameter_name === 'string' && parameter.parameter_name !== '') return parameter.parameter_name
  throw new GraphError(132012, { details: `${part}: Parameter name is missing or empty` })
}

function textOf({ type, text }: Body, part: string): string {
  if (type !== 'text') throw new GraphError(132012, { details: `${part}: Format mismatch, expected TEXT` })
  if (typeof text !== 'string' || text === '') throw missingParameter(`${part}: a parameter of type text has no text`)
  if (!/[\n\r\t]| {5}/.test(text)) return text
  throw new GraphError(132018, {
    details: 'Param text cannot have new-line/tab characters or more than 4 consecutive spaces',
  })
}
