import type { Tree } from './regex-tree.ts'

export interface Attack {
  before: string
  /** What is repeated. */
  pump: string
  after: string
}

export function textOf({ before, pump, after }: Attack, length: number): string {
  return before + pump.repeat(Math.ceil(length / pump.length)) + after
}

const probes = `aZ09_-.+@/:;,!?#%&=~*^|\\'"\`<>()[]{} \t\n\r\0é中。”−\u00ad\u0301`

/** What repeats no more often than this, and nothing that repeats, takes its time only once. */
const enough = 100

/**
 * Texts made of the characters that an expression tells apart: whatever leads up to one of its repetitions, then a
 * piece that this takes again and again, then something that it does not end with.
 */
export function attacksOn(tree: Tree, source: string): Attack[] {
  const repeats = [...repeatsIn(tree, '')]
  if (!repeats.some(({ part, max }) => max > enough || [...repeatsIn(part, '')].length > 0)) return []
  const inRepeats = repeats.flatMap(({ part }) => onesIn(part))
  const characters = toldApart([...new Set(probes + source)], onesIn(tree))
  const taken = characters.filter((character) => inRepeats.some((one) => one.fits(character)))
  const pieces = [...taken, ...repeats.map(({ part }) => shortest(part)), shortest(tree)].filter(
    (piece) => piece !== '',
  )
  const pumps = new Set([...pieces, ...pieces.flatMap((one) => pieces.map((other) => one + other))])
  const foreign = characters.filter((character) => !taken.includes(character))
  const befores = new Set(['', ...foreign.slice(0, 1), ...repeats.map(({ before }) => before)])
  const afters = new Set(['', ...foreign])
  return [...befores].flatMap((before) =>
    [...pumps].flatMap((pump) => [...afters].map((after) => ({ before, pump, after }))),
  )
}

/** One of each kind of characters that the expression treats alike. */
function toldApart(characters: string[], ones: One[]): string[] {
  const byKind = new Map<string, string>()
  for (const character of characters) {
    const kind = ones.map((one) => (one.fits(character) ? 1 : 0)).join('')
    if (!byKind.has(kind)) byKind.set(kind, character)
  }
  return [...byKind.values()]
}

type One = Tree & { kind: 'one' }

function onesIn(tree: Tree): One[] {
  return tree.kind === 'one' ? [tree] : partsOf(tree).flatMap(onesIn)
}

/** Every repetition, with the shortest text that leads up to it. */
function* repeatsIn(tree: Tree, before: string): Generator<{ before: string; part: Tree; max: number }> {
  if (tree.kind === 'repeat') yield { before, part: tree.part, max: tree.max }
  let sofar = before
  for (const part of partsOf(tree)) {
    yield* repeatsIn(part, sofar)
    if (tree.kind === 'all') sofar += shortest(part)
  }
}

function partsOf(tree: Tree): Tree[] {
  if (tree.kind === 'all') return tree.parts
  if (tree.kind === 'either') return tree.options
  return 'part' in tree ? [tree.part] : []
}

function shortest(tree: Tree): string {
  switch (tree.kind) {
    case 'one':
      return [...probes, ...letters].find((character) => tree.fits(character)) ?? ''
    case 'all':
      return tree.parts.map(shortest).join('')
    case 'either':
      return tree.options.map(shortest).reduce((one, other) => (other.length < one.length ? other : one))
    case 'repeat':
      return shortest(tree.part).repeat(Math.min(tree.min, 50))
    default:
      return ''
  }
}

const letters = Array.from({ length: 0x250 }, (_, code) => String.fromCharCode(code))
