import { fillBody } from '../../channels/templates/template-body.ts'
import { invalidMessage } from './send-errors.ts'

/** The platform's limit for the filled body. */
const maxFilledLength = 32_768

/**
 * The body with `{{1}}`, `{{2}}`, … filled in. Throws 422 INVALID_MESSAGE for what the platform is known to refuse: a
 * wrong number of parameters, an empty one, one with a newline, a tab or more than four spaces in a row, a long result.
 */
export function fillTemplate(body: string, parameterCount: number, parameters: readonly string[]): string {
  if (parameters.length !== parameterCount) {
    throw invalidMessage(`This template needs ${parameterCount} body_params, ${parameters.length} were sent`)
  }
  for (const [index, parameter] of parameters.entries()) {
    const problem = problemOf(parameter)
    if (problem !== null) throw invalidMessage(`template.body_params[${index}] ${problem}`)
  }
  const filled = fillBody(body, parameters)
  if (filled.length > maxFilledLength) {
    throw invalidMessage(`The filled template has more than ${maxFilledLength} characters`)
  }
  return filled
}

function problemOf(parameter: string): string | null {
  if (parameter.trim() === '') return 'must not be empty'
  if (/[\n\r\t]/.test(parameter)) return 'must not hold a newline or a tab'
  if (/ {5}/.test(parameter)) return 'must not hold more than four spaces in a row'
  return null
}
