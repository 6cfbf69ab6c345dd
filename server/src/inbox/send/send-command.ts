import { InvalidInput, invalid } from '../../base/errors.ts'
import { compileCheck } from '../../base/validation.ts'
import { InteractiveSend, TemplateSend, TextSend } from './send-schema.ts'

/** What a caller wants to be sent. */
export type SendCommand =
  | { kind: 'text'; text: string; previewUrl: boolean }
  | { kind: 'template'; name: string; language: string; parameters: string[] }
  | { kind: 'interactive'; body: object }

type TextBody = { text: string; preview_url?: boolean }
type TemplateBody = { template: { name: string; language: string; body_params?: string[] } }

// One check for each kind: a union would answer a single mistake with the complaints of all its members.
const checks = {
  text: compileCheck(TextSend),
  template: compileCheck(TemplateSend),
  interactive: compileCheck(InteractiveSend),
}

/** Reads the body of a send; throws InvalidInput when its shape is wrong. What it says is judged later. */
export function readSendCommand(body: unknown): SendCommand {
  if (body === undefined) throw invalid('', 'is required: send a JSON body')
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw invalid('', 'must be object')
  const kind = 'kind' in body ? body.kind : undefined
  if (kind === undefined) throw invalid('kind', 'is required')
  if (kind !== 'text' && kind !== 'template' && kind !== 'interactive') {
    throw invalid('kind', 'must be one of text, template')
  }
  const issues = checks[kind](body, '')
  if (issues.length > 0) throw new InvalidInput(issues)
  if (kind === 'interactive') return { kind, body }
  if (kind === 'text') {
    const { text, preview_url = false } = body as TextBody
    return { kind, text, previewUrl: preview_url }
  }
  const { name, language, body_params = [] } = (body as TemplateBody).template
  return { kind, name, language, parameters: body_params }
}
