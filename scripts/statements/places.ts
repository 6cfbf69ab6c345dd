import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const source = fileURLToPath(new URL('../../server/src', import.meta.url))

interface SourceText {
  path: string
  /** With every run of blanks made one. */
  text: string
  /** For each place in `text`, how many lines come before it. */
  lineOf: (at: number) => number
}

/** Finds where in the service a statement was written: by the longest piece of it between two values. */
export function openPlaces(): (statement: string) => string | null {
  const files = globSync('**/*.ts', { cwd: source }).sort().map(readSource)
  const found = new Map<string, string | null>()
  return (statement) => {
    const known = found.get(statement)
    if (known !== undefined) return known
    const place = findPlace(files, statement)
    found.set(statement, place)
    return place
  }
}

function readSource(path: string): SourceText {
  const given = readFileSync(join(source, path), 'utf8')
  const lines: number[] = []
  let text = ''
  let line = 1
  for (const char of given) {
    if (char === '\n') line++
    const isBlank = /\s/.test(char)
    if (isBlank && text.endsWith(' ')) continue
    text += isBlank ? ' ' : char
    lines.push(line)
  }
  return { path: path.replaceAll('\\', '/'), text, lineOf: (at) => lines[at] ?? line }
}

const shortest = 12

function findPlace(files: readonly SourceText[], statement: string): string | null {
  const pieces = statement
    .split(/\$\d+|"[a-z_]+"(?:, "[a-z_]+")*/)
    .map((piece) => piece.replace(/\s+/g, ' ').trim())
    .filter((piece) => piece.length >= shortest)
    .sort((a, b) => b.length - a.length)
  for (const piece of pieces) {
    for (const { path, text, lineOf } of files) {
      const at = text.indexOf(piece)
      if (at >= 0) return `${path}:${lineOf(at)}`
    }
  }
  // A statement that is put together of pieces: by its lines.
  return null
}
