import assert from 'node:assert/strict'

/** Something that a tutorial has its reader type, and what it says will be shown. */
export interface Step {
  commands: string
  shows: string | null
}

/** Values that differ from reader to reader, by the name that the page gives them in angle brackets. */
export type Values = Map<string, string>

const fence = /^```(\w*)\n([\s\S]*?)^```$/gm
const shown = ['json', 'text']
// Not the `<paths>` of a type, which follows a name.
const placeholder = /(?<!\w)<([a-z][a-z -]*)>/

/** The steps of a page: each `sh` block, with the `json` or `text` block that follows it. */
export function stepsOf(page: string): Step[] {
  const steps: Step[] = []
  for (const [, language = '', text = ''] of page.matchAll(fence)) {
    const step = steps.at(-1)
    if (language === 'sh') steps.push({ commands: text, shows: null })
    else if (shown.includes(language) && step?.shows === null) step.shows = text
    else throw new Error(`A block "${language}" is neither typed nor shown by a step:\n${text}`)
  }
  return steps
}

/** The commands as this reader types them. */
export function fillIn(commands: string, values: Values): string {
  return commands.replaceAll(new RegExp(placeholder, 'g'), (whole, name) => {
    const value = values.get(name)
    assert.ok(value !== undefined, `No step before this one has shown ${whole}:\n${commands}`)
    return value
  })
}

/**
 * Compares what was shown with what the page says, and learns the values that it names. `…` stands for whatever there
 * is; blanks do not count.
 */
export function assertShows(actual: string, expected: string, values: Values): void {
  const parts = expected.trim().split('…')
  const learnt = new Map(values)
  let rest = actual.trim()
  for (const [n, part] of parts.entries()) {
    const { pattern, names } = patternOf(part.trim(), learnt)
    const begin = n === 0 ? '^' : ''
    const end = n === parts.length - 1 ? '$' : ''
    const match = new RegExp(`${begin}\\s*${pattern}\\s*${end}`).exec(rest)
    assert.ok(match, `The page says:\n${expected}\nbut this was shown:\n${actual}\nIt differs from:\n${part}`)
    for (const [i, name] of names.entries()) learnt.set(name, match[i + 1] ?? '')
    rest = rest.slice(match.index + match[0].length)
  }
  for (const [name, value] of learnt) values.set(name, value)
}

/** A value that is known has to be the same; one that is not may be anything without blanks and quotes. */
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
