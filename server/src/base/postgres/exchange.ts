import { createHash } from 'node:crypto'
import type { EventEmitter } from 'node:events'
import pg from 'pg'
import { serialize } from 'pg-protocol'
import { ConnectionLost, DatabaseError, endsSession, isStalePlan } from './failures.ts'
import type { Statement } from './template.ts'
import { parserOf, type Wire } from './values.ts'

/** A statement that sessions keep under a name, so that the database reads and plans it once for each. */
interface Plan {
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
interface Shape {
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

export interface Answer {
  rows: unknown[]
  /** How many rows were answered or changed. */
  count: number
  /** The last step that was done: a commit of what had failed says ROLLBACK. */
  lastTag: string
  /** There are more rows than were asked for. */
  hasMore: boolean
}

/** Which rows of a portal are asked for. The portal is opened when there are values to open it with. */
export interface Portal {
  readonly name: string
  readonly rows: number
  readonly isOpen: boolean
}

export interface Request {
  /** Sent together: when one fails, those behind it are not done. */
  readonly steps: readonly Step[]
  /** The step whose rows are answered. */
  readonly main: number
  readonly portal?: Portal
  /** Instead of steps, by the simple protocol: several statements, of which the last is answered. */
  readonly script?: string
}

export const scriptOf = (script: string): Request => ({ steps: [], main: 0, script })

const nothing: Shape = { names: [], parsers: [] }
const execute = serialize.execute()
const sync = serialize.sync()
const executeAndSync = Buffer.concat([execute, sync])
const describe = serialize.describe({ type: 'P' })

// What pg calls on a query while its answer comes in; its declarations leave these out.
const Query = pg.Query as unknown as new (text: string) => object

interface RowDescription {
  fields: readonly { name: string; dataTypeID: number }[]
}

/**
 * One request and its answer, as pg's pipeline takes them. It is a query of its own, since those of pg cannot send several
 * steps at once, ask anew for the columns at each turn, and keep every name for ever.
 */
export class Exchange extends Query {
  readonly #ended = Promise.withResolvers<Answer>()
  readonly #request: Request
  readonly #prepared: Prepared
  readonly #rows: unknown[] = []
  readonly #parsed: string[] = []
  #shape: Shape | undefined
  #step = 0
  #count = 0
  #lastTag = ''
  #hasMore = false
  #fault: unknown

  constructor(request: Request, prepared: Prepared) {
    super(request.steps[request.main]?.plan.text ?? '')
    this.#request = request
    this.#prepared = prepared
  }

  get answer(): Promise<Answer> {
    return this.#ended.promise
  }

  /** The bytes to send. */
  bytes(): Buffer[] {
    const { steps, main, portal, script } = this.#request
    if (script !== undefined) return [serialize.query(script)]
    const bytes: Buffer[] = []
    for (const [n, step] of steps.entries()) {
      if (n === main) this.#writeMain(bytes, step, portal)
      else this.#writeStep(bytes, step)
    }
    // Most requests end with the one step they have.
    if (bytes.at(-1) === execute) bytes[bytes.length - 1] = executeAndSync
    else bytes.push(sync)
    return bytes
  }

  #writeStep(bytes: Buffer[], { plan, values }: Step, portal = ''): void {
    const isNamed = this.#prepared.keeps(plan.name)
    if (isNamed && !this.#prepared.has(plan.name)) {
      for (const gone of this.#prepared.add(plan.name)) bytes.push(serialize.close({ type: 'S', name: gone }))
      bytes.push(parseOf(plan, plan.name))
      this.#parsed.push(plan.name)
    }
    if (!isNamed) bytes.push(parseOf(plan, ''))
    bytes.push(serialize.bind({ portal, statement: isNamed ? plan.name : '', values: values as unknown[] }))
    if (portal === '') bytes.push(execute)
  }

  #writeMain(bytes: Buffer[], step: Step, portal: Portal | undefined): void {
    this.#shape = this.#prepared.shapeOf(step.plan.name)
    if (portal !== undefined) {
      if (!portal.isOpen) this.#writeStep(bytes, step, portal.name)
      bytes.push(serialize.describe({ type: 'P', name: portal.name }))
      bytes.push(serialize.execute({ portal: portal.name, rows: portal.rows }))
      return
    }
    this.#writeStep(bytes, step)
    if (this.#shape === undefined) bytes.splice(-1, 0, describe)
  }

  /** Called by pg. The session writes what several exchanges of a moment have to say together. */
  submit: () => null = () => null

  handleRowDescription({ fields }: RowDescription): void {
    this.#shape = {
      names: fields.map(({ name }) => name),
      parsers: fields.map(({ dataTypeID }) => parserOf(dataTypeID)),
    }
    // Only a script has more than one answer.
    this.#rows.length = 0
  }

  handleDataRow({ fields }: { fields: readonly (string | null)[] }): void {
    // Settings answer as well.
    if (this.#step !== this.#request.main && this.#request.script === undefined) return
    const { names, parsers } = this.#shape ?? nothing
    const row: Record<string, unknown> = {}
    try {
      for (let n = 0; n < names.length; n++) {
        const field = fields[n]
        row[names[n] as string] = field == null ? null : parsers[n]?.(field)
      }
      this.#rows.push(row)
    } catch (error) {
      this.#fault ??= error
    }
  }

  handleCommandComplete({ text }: { text: string }): void {
    if (this.#request.script !== undefined) {
      if (this.#shape === undefined) this.#rows.length = 0
      this.#count = countOf(text)
      this.#shape = undefined
    } else if (this.#step === this.#request.main) {
      this.#count = countOf(text)
      this.#learnShape()
    }
    this.#step++
    this.#lastTag = text
  }

  #learnShape(): void {
    const { steps, main, portal } = this.#request
    const name = steps[main]?.plan.name ?? ''
    if (portal === undefined && this.#prepared.shapeOf(name) === undefined) {
      this.#prepared.learn(name, this.#shape ?? nothing)
    }
  }

  handlePortalSuspended(): void {
    this.#hasMore = true
  }

  handleEmptyQuery(): void {
    this.#step++
  }

  handleReadyForQuery(): void {
    if (this.#fault !== undefined) this.#ended.reject(this.#fault)
    else this.#ended.resolve({ rows: this.#rows, count: this.#count, lastTag: this.#lastTag, hasMore: this.#hasMore })
  }

  handleError(error: unknown, connection: EventEmitter): void {
    const { steps, script } = this.#request
    if (!(error instanceof DatabaseError)) {
      this.#ended.reject(new ConnectionLost(error))
      return
    }
    for (const name of this.#parsed) this.#prepared.doubt(name)
    const failed = steps[this.#step]
    if (isStalePlan(error) && failed !== undefined) this.#prepared.spoil(failed.plan.name)
    if (endsSession(error)) {
      // Behind the word that all is done, the end of the session says nothing of whether it was.
      const isOver = script === undefined && this.#step === steps.length
      this.#ended.reject(isOver ? new ConnectionLost(error) : error)
      return
    }
    // It is told before the word that the server is ready, and they may come apart. Whoever asks on in between asks while a
    // request is under way, which not every way allows.
    const tell = () => {
      connection.off('readyForQuery', tell).off('end', tell)
      this.#ended.reject(error)
    }
    connection.on('readyForQuery', tell).on('end', tell)
  }
}

const countOf = (tag: string): number => Number(tag.slice(tag.lastIndexOf(' ') + 1)) || 0

const parseOf = ({ text, types }: Step['plan'], name: string): Buffer =>
  serialize.parse({ name, text, types: types as number[] })
