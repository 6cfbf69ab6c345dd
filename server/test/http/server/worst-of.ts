/** Parses a regular expression into a tree, sufficient to find slow inputs. Throws for unknown syntax. */
type Tree =
  | { kind: 'one'; fits: (character: string) => boolean }
  | { kind: 'all' | 'either'; parts: Tree[] }
  | { kind: 'repeat'; parts: [Tree]; min: number; max: number }
  /** Consumes no character: an anchor or a lookaround. */
  | { kind: 'look'; parts: Tree[] }

type One = Tree & { kind: 'one' }

/** Returns an input for which the expression takes more than linear time; undefined if none is found. */
export function worstOf(expression: RegExp): string | undefined {
  const found = attacksOn(expression).find(([before, pump, after]) =>
    // Exponential and cubic cases are found with short texts first, because a long one would take forever.
    [24, 240, 1_200, 7_200].some((length) => {
      const text = before + pump.repeat(Math.ceil(length / pump.length)) + after
      // Of the longest, linear ones take less than 0.2 ms and quadratic ones 25; the first may include compilation.
      return [1, 2, 3, 4, 5].every(() => millisecondsOf(expression, text) > 2)
    }),
  )
  return found && `${expression}: ${JSON.stringify(found)}`
}

/** CPU time of this thread, which other programs do not lengthen. */
function millisecondsOf(expression: RegExp, text: string): number {
  const before = process.threadCpuUsage()
  expression.lastIndex = 0
  if (expression.global) text.replace(expression, '')
  else expression.test(text)
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1_000
}

const probes = `aZ09_-.+@/:;,!?#%&=~*^|\\'"\`<>()[]{} \t\n\r\0é中。”−\u00ad\u0301`
const letters = Array.from({ length: 0x250 }, (_, code) => String.fromCharCode(code))

/** Constructs with fewer repetitions than this are treated as constant time. */
const enough = 100

/**
 * Builds texts of the characters that an expression distinguishes: a prefix that leads to a repetition, then a
 * piece that it repeats, then something that makes it fail.
 */
function attacksOn(expression: RegExp): [before: string, pump: string, after: string][] {
  const { source } = expression
  const tree = readRegex(expression)
  const repeats = [...repeatsIn(tree, '')]
  if (!repeats.some(({ part, max }) => max > enough || [...repeatsIn(part, '')].length > 0)) return []
  const inRepeats = repeats.flatMap(({ part }) => onesIn(part))
  const ones = onesIn(tree)
  const kindOf = (character: string) => ones.map((one) => Number(one.fits(character))).join('')
  // One character of each class that the expression treats alike.
  const characters = [...new Map([...probes, ...source].toReversed().map((one) => [kindOf(one), one])).values()]
  const taken = characters.filter((character) => inRepeats.some((one) => one.fits(character)))
  const foreign = characters.filter((character) => !taken.includes(character))
  const pieces = [...taken, ...repeats.map(({ part }) => shortest(part)), shortest(tree)].filter((piece) => piece)
  const pumps = new Set([...pieces, ...pieces.flatMap((one) => pieces.map((other) => one + other))])
  const befores = new Set(['', ...foreign.slice(0, 1), ...repeats.map(({ before }) => before)])
  return [...befores].flatMap((before) =>
    [...pumps].flatMap((pump) => ['', ...foreign].map((after): [string, string, string] => [before, pump, after])),
  )
}

function onesIn(tree: Tree): One[] {
  return tree.kind === 'one' ? [tree] : tree.parts.flatMap(onesIn)
}

/** Returns all repetitions with the shortest text that leads to them. */
function* repeatsIn(tree: Tree, before: string): Generator<{ before: string; part: Tree; max: number }> {
  if (tree.kind === 'one') return
  if (tree.kind === 'repeat') yield { before, part: tree.parts[0], max: tree.max }
  let sofar = before
  for (const part of tree.parts) {
    yield* repeatsIn(part, sofar)
    if (tree.kind === 'all') sofar += shortest(part)
  }
}

function shortest(tree: Tree): string {
  if (tree.kind === 'one') return [...probes, ...letters].find((character) => tree.fits(character)) ?? ''
  if (tree.kind === 'all') return tree.parts.map(shortest).join('')
  if (tree.kind === 'repeat') return shortest(tree.parts[0]).repeat(Math.min(tree.min, 50))
  return tree.kind === 'look' ? '' : tree.parts.map(shortest).reduce((a, b) => (b.length < a.length ? b : a))
}

// Nodes that match one character.
const single =
  /\[(?:[^\]\\]|\\.)*\]|\\(?:u\{[0-9a-f]+\}|u[0-9a-f]{4}|x[0-9a-f]{2}|0(?!\d)|[pP]\{[^}]*\}|[^0-9kbBxuc])|[^\\[(){}*+?|^$]/iy

function readRegex({ source, flags }: RegExp): Tree {
  let at = 0
  const match = (expression: RegExp) => {
    expression.lastIndex = at
    const found = expression.exec(source)
    at += found?.[0].length ?? 0
    return found
  }
  const either = (): Tree => {
    const parts = [all()]
    while (match(/\|/y)) parts.push(all())
    return { kind: 'either', parts }
  }
  const all = (): Tree => {
    const parts: Tree[] = []
    while (at < source.length && !/[|)]/.test(source[at] ?? '')) parts.push(repeated())
    return { kind: 'all', parts }
  }
  const repeated = (): Tree => {
    const part = one()
    const found = match(/([*+?]|\{(\d+)(,?)(\d*)\})\??/y)
    if (found === null) return part
    const [, sign = '', least = '', comma, most] = found
    const bounds = { '*': [0, Infinity], '+': [1, Infinity], '?': [0, 1] }[sign]
    const [min = Number(least), max = comma === '' ? min : Number(most || Infinity)] = bounds ?? []
    return { kind: 'repeat', parts: [part], min, max }
  }
  const one = (): Tree => {
    if (match(/[$^]|\\b/iy)) return { kind: 'look', parts: [] }
    const isLook = match(/\(\?<?[=!]/y) !== null
    if (isLook || match(/\((?:\?:|\?<\w+>|(?!\?))/y)) {
      const part = either()
      if (!match(/\)/y)) throw new Error(`Cannot read /${source}/: a bracket stays open`)
      return isLook ? { kind: 'look', parts: [part] } : part
    }
    const found = match(single)
    if (found === null) throw new Error(`Cannot read /${source}/ at ${at}`)
    return { kind: 'one', fits: fitter(found[0], flags.replace(/[dgy]/g, '')) }
  }
  const tree = either()
  if (at < source.length) throw new Error(`Cannot read /${source}/ from ${at} on`)
  return tree
}

// Node evaluates character classes; each character is tested once.
function fitter(source: string, flags: string): (character: string) => boolean {
  const expression = new RegExp(`^(?:${source})$`, flags)
  const known = new Map<string, boolean>()
  return (character) => {
    const answer = known.get(character) ?? expression.test(character)
    known.set(character, answer)
    return answer
  }
}
