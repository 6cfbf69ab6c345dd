import { type Loose, objectOf, textOf } from '../json.ts'

const maxAnswersLength = 4096

/** What a customer chose or filled in; null when the platform left it out. */
export function interactiveText(interactive: Loose): string | null {
  const type = textOf(interactive.type)
  const inner = objectOf(type === null ? null : interactive[type])
  if (type === 'nfm_reply') return flowText(inner)
  return textOf(inner.title) ?? textOf(inner.text) ?? textOf(inner.body) ?? textOf(inner.response)
}

/** The line that the customer saw, then the answers of the form, one a line. */
function flowText({ body, name, response_json }: Loose): string | null {
  const answers = answersOf(textOf(response_json))
  const head = textOf(body) ?? textOf(name)
  const lines = head === null ? answers : [head, ...answers]
  return lines.length === 0 ? null : lines.join('\n').slice(0, maxAnswersLength)
}

function answersOf(json: string | null): string[] {
  return Object.entries(objectOf(parse(json)))
    .filter(([key]) => key !== 'flow_token')
    .flatMap(([key, value]) => {
      const text = [value].flat().filter(isPlain).join(', ')
      return text === '' ? [] : [`${textOf(key)}: ${textOf(text)}`]
    })
}

const isPlain = (value: unknown) => ['string', 'number', 'boolean'].includes(typeof value)

function parse(json: string | null): unknown {
  try {
    return JSON.parse(json ?? 'null')
  } catch {
    return null
  }
}
