import { isBlank } from '../../base/text/external-text.ts'
import type { FilledInputs } from '../../channels/connector.ts'
import type { TemplateInputs } from '../../channels/templates/template-inputs.ts'
import type { Template } from '../../channels/templates/templates.ts'
import type { SendCommand } from './send-command.ts'
import { invalidMessage } from './send-errors.ts'

type TemplateCommand = Extract<SendCommand, { kind: 'template' }>

/** Returns whether a command has more than body parameters. */
export const hasInputs = ({ headerUploadId, headerText, headerLocation, buttonParameters }: TemplateCommand): boolean =>
  [headerUploadId, headerText, headerLocation, buttonParameters].some((value) => value !== undefined)

/** Returns the values of a template's header and buttons. Throws 422 if one is missing, wrong or too many. */
export function checkInputs(command: TemplateCommand, { inputs }: Pick<Template, 'inputs'>): FilledInputs | null {
  const { headerText, headerLocation, buttons = [] } = inputs ?? {}
  const filled = {
    ...checkHeaderText(command, headerText),
    ...checkLocation(command, headerLocation ?? false),
    ...checkButtons(command, buttons),
  }
  const { quickReplies } = command
  if (quickReplies === undefined) return inputs === null ? null : filled
  const replies = quickReplies.map(({ index, payload }) => ({ index, type: 'quick_reply' as const, value: payload }))
  return { ...filled, buttons: [...(filled.buttons ?? []), ...replies] }
}

function checkHeaderText(
  { headerText: value }: TemplateCommand,
  needed: TemplateInputs['headerText'],
): Pick<FilledInputs, 'headerText'> {
  if (needed === undefined) {
    if (value !== undefined) throw invalidMessage('This template has no variable in its header: remove header_param')
    return {}
  }
  if (value === undefined) throw invalidMessage('This template requires a value for its header: set header_param')
  const problem = parameterProblem(value)
  if (problem !== null) throw invalidMessage(`template.header_param ${problem}`)
  return { headerText: { value, name: needed.name } }
}

function checkLocation(
  { headerLocation: value }: TemplateCommand,
  isNeeded: boolean,
): Pick<FilledInputs, 'headerLocation'> {
  if (!isNeeded) {
    if (value !== undefined) throw invalidMessage('This template has no location header: remove header_location')
    return {}
  }
  if (value === undefined) throw invalidMessage('This template requires a location: set header_location')
  return { headerLocation: value }
}

function checkButtons(
  { buttonParameters: values = [], parameters }: TemplateCommand,
  needed: NonNullable<TemplateInputs['buttons']>,
): Pick<FilledInputs, 'buttons'> {
  if (values.length !== needed.length) {
    throw invalidMessage(`This template requires ${needed.length} button_params, but got ${values.length}`)
  }
  if (needed.length === 0) return {}
  const buttons = needed.map(({ index, type }, n) => {
    const value = values[n] ?? ''
    const problem = parameterProblem(value) ?? buttonProblem(type, value, parameters[0])
    if (problem !== null) throw invalidMessage(`template.button_params[${n}] ${problem}`)
    return { index, type, value }
  })
  return { buttons }
}

/** Longest codes of offers and one-time passwords that the platform shows. */
const maxCodeLength = { copy_code: 20, otp: 15 }

type ButtonType = NonNullable<TemplateInputs['buttons']>[number]['type']

function buttonProblem(type: ButtonType, value: string, code: string | undefined): string | null {
  if (type === 'url') return /\s/.test(value) ? 'must not contain a space: it is the end of a URL' : null
  if (value.length > maxCodeLength[type]) return `must have at most ${maxCodeLength[type]} characters`
  if (type === 'copy_code') return null
  if (value !== code) return 'must be the code that is in body_params'
  return /\p{Extended_Pictographic}/u.test(value) ? 'must not contain an emoji' : null
}

/** Returns why the platform would refuse a value of a template; null if it accepts it. */
export function parameterProblem(parameter: string): string | null {
  if (isBlank(parameter)) return 'must not be empty'
  if (/[\n\r\t]/.test(parameter)) return 'must not contain a newline or a tab'
  if (/ {5}/.test(parameter)) return 'must not contain more than four spaces in a row'
  return null
}
