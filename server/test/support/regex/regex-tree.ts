/** A regular expression as a tree, read well enough to be run step by step. What it does not know it throws at. */
export type Tree =
  /** One character, by whatever means it is described. */
  | { kind: 'one'; fits: (character: string) => boolean }
  | { kind: 'all'; parts: Tree[] }
  | { kind: 'either'; options: Tree[] }
  | { kind: 'repeat'; part: Tree; min: number; max: number; isLazy: boolean }
  | { kind: 'ahead'; part: Tree; isNot: boolean }
  /** Of one character only. */
  | { kind: 'behind'; part: Tree; isNot: boolean }
  | { kind: 'edge'; where: '^' | '$' | '\\b' | '\\B' }

export function readRegex({ source, flags }: RegExp): Tree {
  const reader = new Reader(source, flags.replace(/[dgy]/g, ''))
  const tree = reader.either()
  if (!reader.isAtEnd) throw new Error(`Cannot read /${source}/ from ${reader.at} on`)
  return tree
}

const quantifier = /[*+?]|\{(\d+)(,?)(\d*)\}/y
// Whatever stands for one character.
const single =
  /\[(?:[^\]\\]|\\.)*\]|\\(?:u\{[0-9a-f]+\}|u[0-9a-f]{4}|x[0-9a-f]{2}|[pP]\{[^}]*\}|[^0-9kbBxuc])|[^\\[(){}*+?|^$]/iy

class Reader {
  at = 0
  private readonly source: string
  private readonly flags: string

  constructor(source: string, flags: string) {
    this.source = source
    this.flags = flags
  }

  get isAtEnd(): boolean {
    return this.at === this.source.length
  }

  either(): Tree {
    const options = [this.all()]
    while (this.take('|')) options.push(this.all())
    return options.length === 1 ? (options[0] as Tree) : { kind: 'either', options }
  }

  private all(): Tree {
    const parts: Tree[] = []
    while (!this.isAtEnd && !/[|)]/.test(this.source[this.at] ?? '')) parts.push(this.repeated())
    return { kind: 'all', parts }
  }

  private repeated(): Tree {
    const part = this.part()
    const found = this.match(quantifier)
    if (found === undefined) return part
    const [sign, least = '', comma, most] = found
    const isLazy = this.take('?')
    const bounds = { '*': [0, Infinity], '+': [1, Infinity], '?': [0, 1] }[sign]
    const [min = Number(least), max = comma === '' ? min : Number(most || Infinity)] = bounds ?? []
    return { kind: 'repeat', part, min, max, isLazy }
  }

  private part(): Tree {
    for (const where of ['^', '$', '\\b', '\\B'] as const) if (this.take(where)) return { kind: 'edge', where }
    for (const isNot of [false, true]) {
      const sign = isNot ? '!' : '='
      if (this.take(`(?${sign}`)) return { kind: 'ahead', part: this.closed(), isNot }
      if (this.take(`(?<${sign}`)) return { kind: 'behind', part: this.closed(), isNot }
    }
    if (this.match(/\((?:\?:|\?<\w+>|(?!\?))/y)) return this.closed()
    const found = this.match(single)
    if (found === undefined) throw new Error(`Cannot read /${this.source}/ at ${this.at}`)
    return { kind: 'one', fits: fitter(found[0], this.flags) }
  }

  private closed(): Tree {
    const part = this.either()
    if (!this.take(')')) throw new Error(`Cannot read /${this.source}/: a bracket stays open`)
    return part
  }

  private take(text: string): boolean {
    if (!this.source.startsWith(text, this.at)) return false
    this.at += text.length
    return true
  }

  private match(expression: RegExp): RegExpExecArray | undefined {
    expression.lastIndex = this.at
    const found = expression.exec(this.source)
    if (found === null) return undefined
    this.at += found[0].length
    return found
  }
}

// Node knows what a class holds; it is asked once for each character.
function fitter(source: string, flags: string): (character: string) => boolean {
  const expression = new RegExp(`^(?:${source})$`, flags)
  const known = new Map<string, boolean>()
  return (character) => {
    const answer = known.get(character) ?? expression.test(character)
    known.set(character, answer)
    return answer
  }
}
