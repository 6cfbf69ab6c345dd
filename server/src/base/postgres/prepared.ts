import { createHash } from 'node:crypto'
import type { Statement } from './template.ts'
import type { Wire } from './values.ts'

/** A statement that sessions keep under a name, so that the database reads and plans it once for each. */
export interface Plan {
  readonly name: string
  readonly text: string
  readonly types: readonly number[]
}

/** One thing for the database to do, with the values to do it with. */
export interface Step {
  readonly plan: Plan
  readonly values: readonly Wire[]
}

/** More texts than there are statements, many of whose variants differ by a piece. */
const mostPlans = 2_000

const plans = new Map<string, Plan>()

/** The name is made of the text, so that it tells the same in the database's own lists, whatever the process. */
export function planOf({ text, types }: Pick<Statement, 'text' | 'types'>): Plan {
  const key = types.length === 0 ? text : `${text}\n${types.join()}`
  const known = plans.get(key)
  if (known !== undefined) return known
  const name = `parley_${createHash('sha256').update(key).digest('base64url').slice(0, 22)}`
  const plan = { name, text, types }
  if (plans.size === mostPlans) plans.delete(firstOf(plans.keys()))
  plans.set(key, plan)
  return plan
}

const firstOf = (names: Iterable<string>): string => {
  for (const name of names) return name
  return ''
}

const bare = (text: string): Step => ({ plan: planOf({ text, types: [] }), values: [] })

export const begin = bare('begin')
export const commit = bare('commit')
export const rollback = bare('rollback')

/** How to make rows of what a statement answers. */
export interface Shape {
  readonly names: readonly string[]
  readonly parsers: readonly ((text: string) => unknown)[]
}

/**
 * What statements are prepared under: names of the session's own, names that a pooler translates into what it shares among
 * all its clients, or none, where it would hand them to now one server and now another.
 */
export type Names = 'own' | 'shared' | 'none'

/** The database keeps a plan for each; of more the oldest is given up. */
const mostNames = 500

/** What a session has prepared. */
export class Prepared {
  readonly #names: Names
  readonly #shapes = new Map<string, Shape | undefined>()
  readonly #doubtful = new Set<string>()
  readonly #nameless = new Set<string>()

  constructor(names: Names) {
    this.#names = names
  }

  /** Whether it is to be prepared under its name. */
  keeps(name: string): boolean {
    return this.#names !== 'none' && !this.#nameless.has(name)
  }

  has(name: string): boolean {
    return this.#shapes.has(name)
  }

  shapeOf(name: string): Shape | undefined {
    return this.#shapes.get(name)
  }

  /** Returns the names that have to be closed first. */
  add(name: string): readonly string[] {
    const gone: string[] = this.#doubtful.delete(name) ? [name] : []
    if (this.#shapes.size === mostNames) {
      const oldest = firstOf(this.#shapes.keys())
      this.#shapes.delete(oldest)
      gone.push(oldest)
    }
    this.#shapes.set(name, undefined)
    return gone
  }

  learn(name: string, shape: Shape): void {
    if (this.#shapes.has(name)) this.#shapes.set(name, shape)
  }

  /** It may be there or not: it is closed before it is prepared again. */
  doubt(name: string): void {
    this.#shapes.delete(name)
    this.#doubtful.add(name)
  }

  /** It is there no more, or of no use any more. */
  spoil(name: string): void {
    this.doubt(name)
    if (this.#names === 'own') return
    // The pooler would hand out what it has for this text, however often that is closed.
    if (this.#nameless.size === mostNames) this.#nameless.clear()
    this.#nameless.add(name)
  }
}
