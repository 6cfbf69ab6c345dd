import type { Template as ConnectionTemplate } from '../data/connections.ts'
import { foldText } from '../ui/format/fold-text.ts'

/** `header` is the file that its header requires, `inputs` the values that its header and buttons require. */
export type Template = Pick<
  ConnectionTemplate,
  'id' | 'name' | 'language' | 'category' | 'status' | 'body' | 'parameterCount' | 'parameterNames' | 'sendable'
> &
  Pick<ConnectionTemplate, 'header' | 'inputs'>

type TemplatePart = { text: string } | { parameter: number; value: string }

/** Splits the body of a template into text and the values of `{{1}}`, `{{2}}`, …; missing values are empty. */
export function parseTemplate(body: string, values: readonly string[]): TemplatePart[] {
  return body
    .split(/(\{\{\s*\d+\s*\}\})/)
    .filter((part) => part !== '')
    .map((part) => {
      const parameter = Number(/^\{\{\s*(\d+)\s*\}\}$/.exec(part)?.[1] ?? 0)
      return parameter === 0 ? { text: part } : { parameter, value: values[parameter - 1]?.trim() ?? '' }
    })
}

/** Returns the message as the customer will see it. */
export const filledText = (body: string, values: readonly string[]): string =>
  parseTemplate(body, values)
    .map((piece) => ('text' in piece ? piece.text : piece.value || `{{${piece.parameter}}}`))
    .join('')

const greetingPattern =
  /(?:^|[^\p{L}])(?:hi|hello|hey|dear|hola|ol[áa]|oi|estimad[oa]|car[oa]|prezad[oa]|querid[oa]|(?:bom|buenos?|boa|buenas) \p{L}{3,6})[,!]? ?\*?$/iu
const compareTemplates = 30

/** Returns initial values: the first name in a greeting, otherwise empty. */
export function valuesFor(
  { body, parameterCount }: Pick<Template, 'body' | 'parameterCount'>,
  firstName: string,
): string[] {
  const pieces = parseTemplate(body, [])
  return Array.from({ length: parameterCount }, (_, n) => {
    const at = pieces.findIndex((piece) => 'parameter' in piece && piece.parameter === n + 1)
    const before = pieces[at - 1]
    return before !== undefined && 'text' in before && greetingPattern.test(before.text.slice(-compareTemplates))
      ? firstName
      : ''
  })
}

export type Problem = 'empty' | 'lines' | 'spaces' | 'long' | 'otp'

/** Longest one-time password that the platform accepts. */
const maxOtpLength = 15

/** Returns why the platform would refuse a value of the body; null if it accepts it. */
export function problemOf(value: string, template: Pick<Template, 'inputs'> | null = null): Problem | null {
  const trimmed = value.trim()
  if (trimmed === '') return 'empty'
  if (/[\n\r\t]/.test(trimmed)) return 'lines'
  if (/ {5}/.test(trimmed)) return 'spaces'
  const isCode = template?.inputs?.buttons.some(({ type }) => type === 'otp') ?? false
  if (isCode && (trimmed.length > maxOtpLength || /\p{Extended_Pictographic}/u.test(trimmed))) return 'otp'
  return trimmed.length > 2048 ? 'long' : null
}

/** Returns sendable templates with all words of the term in name or text; those in the reader's language first. */
export const findTemplates = (templates: readonly Template[], term: string, language: string): Template[] =>
  search(templates, term, language).filter(({ sendable }) => sendable)

/** Returns approved templates that need more than can be entered here; shown so that nobody searches for them. */
export const findUnsendable = (templates: readonly Template[], term: string, language: string): Template[] =>
  search(templates, term, language).filter(({ sendable, status }) => !sendable && status === 'APPROVED')

function search(templates: readonly Template[], term: string, language: string): Template[] {
  const words = foldText(term)
    .split(/[\s_]+/)
    .filter((word) => word !== '')
  const isNear = (one: Template) => (one.language.startsWith(language) ? 0 : 1)
  return templates
    .filter((one) => words.every((word) => foldText(`${one.name} ${one.body}`).includes(word)))
    .sort((a, b) => a.name.localeCompare(b.name) || isNear(a) - isNear(b))
}
