import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const source = fileURLToPath(new URL('../../server/src', import.meta.url))

/**
 * Text of template literals between their placeholders, without whitespace, and its location. Contains other source
 * text as well, which does no harm.
 */
type Chunks = Map<string, { chunk: string; place: string }[]>

/** Length of the prefix by which chunks are indexed. */
const headLength = 4
/** A statement whose longest matching piece is shorter than this matches only by chance. */
const minMatchLength = 15

/**
 * Returns a function that finds where the service defines a statement: file and line of its longest piece. Null if the
 * sources do not contain its pieces, as for statements that a test sends itself.
 */
export function createSourceLookup(): (statement: string) => string | null {
  const chunks: Chunks = new Map()
  for (const path of globSync('**/*.ts', { cwd: source }).sort()) {
    addChunks(chunks, path.replaceAll('\\', '/'), readFileSync(join(source, path), 'utf8'))
  }
  // Separators that `row` and `set` write between values.
  for (const chunk of [',', '=']) add(chunks, chunk, '')
  const found = new Map<string, string | null>()
  return (statement) => {
    const known = found.get(statement)
    if (known !== undefined) return known
    const place = findPlace(chunks, statement)
    found.set(statement, place)
    return place
  }
}

function addChunks(chunks: Chunks, path: string, text: string): void {
  let line = 1
  for (const part of text.split(/(`|\$\{|\})/)) {
    const blanks = /^\s*/.exec(part)?.[0] ?? ''
    add(chunks, bare(part), `${path}:${line + newlinesIn(blanks)}`)
    line += newlinesIn(part)
  }
}

const newlinesIn = (text: string): number => text.split('\n').length - 1

function add(chunks: Chunks, chunk: string, place: string): void {
  if (chunk === '') return
  const head = chunk.slice(0, headLength)
  const same = chunks.get(head) ?? []
  if (!same.some((one) => one.chunk === chunk)) same.push({ chunk, place })
  chunks.set(head, same)
}

/** A brace ends a placeholder or belongs to the text, so it is removed on both sides. */
const bare = (text: string): string => text.replace(/[\s}]+/g, '')

function findPlace(chunks: Chunks, statement: string): string | null {
  let longest = { length: 0, place: '' }
  // Splits at values and at names that the service inserts.
  for (const piece of statement.split(/\$\d+|"[a-z_]+"/).map(bare)) {
    const parts = partsOf(chunks, piece)
    if (parts === null) return null
    for (const { chunk, place } of parts) if (chunk.length > longest.length) longest = { length: chunk.length, place }
  }
  return longest.length < minMatchLength ? null : longest.place
}

/** Returns the chunks that a piece consists of; null if it does not. */
function partsOf(chunks: Chunks, piece: string): { chunk: string; place: string }[] | null {
  // For each position that chunks can reach: the chunk that ends there, and its start.
  const reached: ({ from: number; chunk: string; place: string } | undefined)[] = []
  const isReached = (at: number) => at === 0 || reached[at] !== undefined
  for (let at = 0; at < piece.length; at++) {
    if (!isReached(at)) continue
    for (let length = 1; length <= headLength; length++) {
      for (const one of chunks.get(piece.slice(at, at + length)) ?? []) {
        const fits = (length === headLength || one.chunk.length === length) && piece.startsWith(one.chunk, at)
        if (fits) reached[at + one.chunk.length] ??= { from: at, ...one }
      }
    }
  }
  const parts: { chunk: string; place: string }[] = []
  for (let at = piece.length; at > 0; ) {
    const last = reached[at]
    if (last === undefined) return null
    parts.push(last)
    at = last.from
  }
  return parts
}
