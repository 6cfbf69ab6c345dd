import type { Tree } from './regex-tree.ts'

export interface Walk {
  /** Where the first match begins and ends; null when there is none. */
  first: { start: number; end: number } | null
  /** How often a character or a place was looked at; infinite where it was given up. */
  steps: number
}

/**
 * Runs an expression over a text as engines do, by trying and going back, and counts the steps: they grow as its time
 * does, on every machine alike. With `isGlobal`, on to the last match.
 */
export function walk(tree: Tree, text: string, isGlobal: boolean): Walk {
  const matcher = new Matcher(text)
  try {
    return { first: search(matcher, tree, text, isGlobal), steps: matcher.steps }
  } catch (error) {
    if (error !== tooManySteps) throw error
    return { first: null, steps: Infinity }
  }
}

const maxSteps = 2_000_000
const tooManySteps = new Error('This has no end')

function search(matcher: Matcher, tree: Tree, text: string, isGlobal: boolean): Walk['first'] {
  let first: Walk['first'] = null
  for (let start = 0; start <= text.length; ) {
    let end = -1
    matcher.steps++
    const isFound = matcher.matches(tree, start, (at) => {
      end = at
      return true
    })
    if (isFound) first ??= { start, end }
    if (isFound && !isGlobal) break
    start = isFound ? Math.max(end, start + 1) : start + 1
  }
  return first
}

type Then = (at: number) => boolean

class Matcher {
  steps = 0
  private readonly text: string

  constructor(text: string) {
    this.text = text
  }

  matches(tree: Tree, at: number, then: Then): boolean {
    if (++this.steps > maxSteps) throw tooManySteps
    switch (tree.kind) {
      case 'one':
        return this.fits(tree, at) && then(at + 1)
      case 'all':
        return this.matchesAll(tree.parts, 0, at, then)
      case 'either':
        return tree.options.some((option) => this.matches(option, at, then))
      case 'ahead':
        return this.matches(tree.part, at, () => true) !== tree.isNot && then(at)
      case 'behind':
        return (at > 0 && this.matches(tree.part, at - 1, (end) => end === at)) !== tree.isNot && then(at)
      case 'edge':
        return this.isEdge(tree.where, at) && then(at)
      case 'repeat':
        return tree.part.kind === 'one' && !tree.isLazy
          ? this.repeatsOne(tree, tree.part, at, then)
          : this.repeats(tree, 0, at, then)
    }
  }

  private matchesAll(parts: Tree[], from: number, at: number, then: Then): boolean {
    const part = parts[from]
    return part === undefined
      ? then(at)
      : this.matches(part, at, (next) => this.matchesAll(parts, from + 1, next, then))
  }

  private repeatsOne(tree: Tree & { kind: 'repeat' }, part: Tree & { kind: 'one' }, at: number, then: Then): boolean {
    let end = at
    while (end - at < tree.max && this.fits(part, end)) {
      this.steps++
      end++
    }
    for (; end - at >= tree.min; end--) {
      this.steps++
      if (then(end)) return true
    }
    return false
  }

  private repeats(tree: Tree & { kind: 'repeat' }, done: number, at: number, then: Then): boolean {
    const again = () =>
      done < tree.max &&
      this.matches(tree.part, at, (next) => (next > at || done < tree.min) && this.repeats(tree, done + 1, next, then))
    const enough = () => done >= tree.min && then(at)
    return tree.isLazy ? enough() || again() : again() || enough()
  }

  private fits(part: Tree & { kind: 'one' }, at: number): boolean {
    return at < this.text.length && part.fits(this.text[at] ?? '')
  }

  private isEdge(where: '^' | '$' | '\\b' | '\\B', at: number): boolean {
    if (where === '^') return at === 0
    if (where === '$') return at === this.text.length
    const isWord = (index: number) => /\w/.test(this.text[index] ?? '')
    return (isWord(at - 1) !== isWord(at)) === (where === '\\b')
  }
}
