import assert from 'node:assert/strict'

/** Commands of a tutorial, and the output that it shows for them. */
export interface Step {
  commands: string
  shows: string | null
}

/** Values that differ between readers, by their name in angle brackets. */
export type Values = Map<string, string>

const fence = /^```(\w*)\n([\s\S]*?)^```$/gm
const shown = ['json', 'text']
// Does not match `<paths>` of a generic type, which follows a name.
const placeholder = /(?<!\w)<([a-z][a-z -]*)>/

/** Returns the steps of a page: each `sh` block, with the `json` or `text` block after it. */
export function stepsOf(page: string): Step[] {
  const steps: Step[] = []
  for (const [, language = '', text = ''] of page.matchAll(fence)) {
    const step = steps.at(-1)
    if (language === 'sh') steps.push({ commands: text, shows: null })
    else if (shown.includes(language) && step?.shows === null) step.shows = text
    else throw new Error(`A "${language}" block belongs to no step:\n${text}`)
  }
  return steps
}

/** Returns the commands with this reader's values. */
export function fillIn(commands: string, values: Values): string {
  return commands.replaceAll(new RegExp(placeholder, 'g'), (whole, name) => {
    const value = values.get(name)
    assert.ok(value !== undefined, `No earlier step has shown ${whole}:\n${commands}`)
    return value
  })
}

/** Asserts that the output matches the page; stores the values it names. `…` matches anything; ignores whitespace. */
export function assertShows(actual: string, expected: string, values: Values): void {
  const parts = expected.trim().split('…')
  const learnt = new Map(values)
  let rest = actual.trim()
  for (const [n, part] of parts.entries()) {
    const { pattern, names } = patternOf(part.trim(), learnt)
    const begin = n === 0 ? '^' : ''
    const end = n === parts.length - 1 ? '$' : ''
    const match = new RegExp(`${begin}\\s*${pattern}\\s*${end}`).exec(rest)
    assert.ok(match, `Expected output:\n${expected}\nActual output:\n${actual}\nFirst difference:\n${part}`)
    for (const [i, name] of names.entries()) learnt.set(name, match[i + 1] ?? '')
    rest = rest.slice(match.index + match[0].length)
  }
  for (const [name, value] of learnt) values.set(name, value)
}

/** A known value must be the same; an unknown one matches anything without whitespace and quotes. */
function patternOf(text: string, values: Values): { pattern: string; names: string[] } {
  const names: string[] = []
  const pieces = text.split(new RegExp(placeholder, 'g')).map((piece, n) => {
    if (n % 2 === 0) return piece.split(/\s+/).map(escaped).join('\\s*')
    const known = values.get(piece)
    if (known !== undefined) return escaped(known)
    if (names.includes(piece)) return `\\${names.indexOf(piece) + 1}`
    names.push(piece)
    return '([^\\s"]+)'
  })
  return { pattern: pieces.join(''), names }
}

const escaped = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
