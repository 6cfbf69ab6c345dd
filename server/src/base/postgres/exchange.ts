import { createHash } from 'node:crypto'
import type { EventEmitter } from 'node:events'
import pg from 'pg'
import { serialize } from 'pg-protocol'
import { ConnectionLost, DatabaseError, endsSession, isStalePlan } from './failures.ts'
import type { Statement } from './template.ts'
import { parserOf, type Wire } from './values.ts'

/** A prepared statement, which a session parses and plans once. */
interface StatementPlan {
  readonly name: string
  readonly text: string
  readonly types: readonly number[]
}

/** One execution of a statement with its values. */
export interface Step {
  readonly plan: StatementPlan
  readonly values: readonly Wire[]
}

/** Exceeds the number of statements, many of which have variants. */
const maxPlans = 2_000

const plans = new Map<string, StatementPlan>()

/** Returns the plan of a statement. Its name is a hash of the text, so equal in all processes and database views. */
export function planOf({ text, types }: Pick<Statement, 'text' | 'types'>): StatementPlan {
  const key = types.length === 0 ? text : `${text}\n${types.join()}`
  const known = plans.get(key)
  if (known !== undefined) return known
  const name = `parley_${createHash('sha256').update(key).digest('base64url').slice(0, 22)}`
  const plan = { name, text, types }
  if (plans.size === maxPlans) plans.delete(firstOf(plans.keys()))
  plans.set(key, plan)
  return plan
}

const firstOf = (names: Iterable<string>): string => {
  for (const name of names) return name
  return ''
}

const createStep = (text: string): Step => ({ plan: planOf({ text, types: [] }), values: [] })

export const begin = createStep('begin')
export const commit = createStep('commit')
export const rollback = createStep('rollback')

/** How rows of a result are parsed. */
interface Shape {
  readonly names: readonly string[]
  readonly parsers: readonly ((text: string) => unknown)[]
}

/**
 * Names of prepared statements: own names of the session, names that the pooler shares between its clients, or
 * none, if the pooler would send them to changing servers.
 */
export type NameMode = 'own' | 'shared' | 'none'

/** Maximum number of prepared statements per session; the oldest is closed. */
const maxNames = 500

/** Prepared statements of a session. */
export class PreparedStatements {
  readonly #names: NameMode
  readonly #shapes = new Map<string, Shape | undefined>()
  readonly #uncertain = new Set<string>()
  readonly #unnamed = new Set<string>()

  constructor(names: NameMode) {
    this.#names = names
  }

  /** Returns true if the statement can be prepared under its name. */
  canName(name: string): boolean {
    return this.#names !== 'none' && !this.#unnamed.has(name)
  }

  has(name: string): boolean {
    return this.#shapes.has(name)
  }

  shapeOf(name: string): Shape | undefined {
    return this.#shapes.get(name)
  }

  /** Adds a name, and returns the names that must be closed first. */
  add(name: string): readonly string[] {
    const obsolete: string[] = this.#uncertain.delete(name) ? [name] : []
    if (this.#shapes.size === maxNames) {
      const oldest = firstOf(this.#shapes.keys())
      this.#shapes.delete(oldest)
      obsolete.push(oldest)
    }
    this.#shapes.set(name, undefined)
    return obsolete
  }

  setShape(name: string, shape: Shape): void {
    if (this.#shapes.has(name)) this.#shapes.set(name, shape)
  }

  /** Marks a statement that may or may not be prepared: it is closed before it is prepared again. */
  markUncertain(name: string): void {
    this.#shapes.delete(name)
    this.#uncertain.add(name)
  }

  /** Marks a prepared statement as missing or outdated. */
  markStale(name: string): void {
    this.markUncertain(name)
    if (this.#names === 'own') return
    // The pooler would reuse its own outdated statement for this text, even after a close.
    if (this.#unnamed.size === maxNames) this.#unnamed.clear()
    this.#unnamed.add(name)
  }
}

export interface Answer {
  rows: unknown[]
  /** Number of rows returned or changed. */
  count: number
  /** Tag of the last step: a commit of a failed transaction returns ROLLBACK. */
  lastTag: string
  /** Whether more rows are available. */
  hasMore: boolean
}

/** Rows to fetch from a portal. It is opened by the first request. */
export interface Portal {
  readonly name: string
  readonly rows: number
  readonly isOpen: boolean
}

export interface Request {
  /** Sent together: after a failure the rest is skipped. */
  readonly steps: readonly Step[]
  /** Index of the step whose rows are returned. */
  readonly main: number
  readonly portal?: Portal
  /** Instead of steps: several statements in the simple protocol. Returns the result of the last. */
  readonly script?: string
}

export const scriptOf = (script: string): Request => ({ steps: [], main: 0, script })

const emptyShape: Shape = { names: [], parsers: [] }
const execute = serialize.execute()
const sync = serialize.sync()
const executeAndSync = Buffer.concat([execute, sync])
const describe = serialize.describe({ type: 'P' })

// Methods that pg calls on a query while its result arrives; the type declarations lack them.
const Query = pg.Query as unknown as new (text: string) => object

interface RowDescription {
  fields: readonly { name: string; dataTypeID: number }[]
}

/**
 * One request and its answer, as a query of pg's pipeline. Queries of pg itself can't send several steps at once,
 * describe columns each time, and keep every name forever.
 */
export class Exchange extends Query {
  readonly #ended = Promise.withResolvers<Answer>()
  readonly #request: Request
  readonly #prepared: PreparedStatements
  readonly #rows: unknown[] = []
  readonly #parsed: string[] = []
  #shape: Shape | undefined
  #step = 0
  #count = 0
  #lastTag = ''
  #hasMore = false
  #parseError: unknown

  constructor(request: Request, prepared: PreparedStatements) {
    super(request.steps[request.main]?.plan.text ?? '')
    this.#request = request
    this.#prepared = prepared
  }

  get answer(): Promise<Answer> {
    return this.#ended.promise
  }

  /** Returns the bytes to send. */
  bytes(): Buffer[] {
    const { steps, main, portal, script } = this.#request
    if (script !== undefined) return [serialize.query(script)]
    const bytes: Buffer[] = []
    for (const [n, step] of steps.entries()) {
      if (n === main) this.#writeMain(bytes, step, portal)
      else this.#writeStep(bytes, step)
    }
    // Most requests have only one step.
    if (bytes.at(-1) === execute) bytes[bytes.length - 1] = executeAndSync
    else bytes.push(sync)
    return bytes
  }

  #writeStep(bytes: Buffer[], { plan, values }: Step, portal = ''): void {
    const isNamed = this.#prepared.canName(plan.name)
    if (isNamed && !this.#prepared.has(plan.name)) {
      for (const obsolete of this.#prepared.add(plan.name)) bytes.push(serialize.close({ type: 'S', name: obsolete }))
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

  /** Called by pg. The session combines what several exchanges send at a time. */
  submit: () => null = () => null

  handleRowDescription({ fields }: RowDescription): void {
    this.#shape = {
      names: fields.map(({ name }) => name),
      parsers: fields.map(({ dataTypeID }) => parserOf(dataTypeID)),
    }
    // Only a script has several results.
    this.#rows.length = 0
  }

  handleDataRow({ fields }: { fields: readonly (string | null)[] }): void {
    // Settings return rows too.
    if (this.#step !== this.#request.main && this.#request.script === undefined) return
    const { names, parsers } = this.#shape ?? emptyShape
    const row: Record<string, unknown> = {}
    try {
      for (let n = 0; n < names.length; n++) {
        const field = fields[n]
        row[names[n] as string] = field == null ? null : parsers[n]?.(field)
      }
      this.#rows.push(row)
    } catch (error) {
      this.#parseError ??= error
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
      this.#prepared.setShape(name, this.#shape ?? emptyShape)
    }
  }

  handlePortalSuspended(): void {
    this.#hasMore = true
  }

  handleEmptyQuery(): void {
    this.#step++
  }

  handleReadyForQuery(): void {
    if (this.#parseError !== undefined) this.#ended.reject(this.#parseError)
    else this.#ended.resolve({ rows: this.#rows, count: this.#count, lastTag: this.#lastTag, hasMore: this.#hasMore })
  }

  handleError(error: unknown, connection: EventEmitter): void {
    const { steps, script } = this.#request
    if (!(error instanceof DatabaseError)) {
      this.#ended.reject(new ConnectionLost(error))
      return
    }
    for (const name of this.#parsed) this.#prepared.markUncertain(name)
    const failed = steps[this.#step]
    if (isStalePlan(error) && failed !== undefined) this.#prepared.markStale(failed.plan.name)
    if (endsSession(error)) {
      // An end of session after the last step's answer doesn't tell whether the transaction was committed.
      const isOver = script === undefined && this.#step === steps.length
      this.#ended.reject(isOver ? new ConnectionLost(error) : error)
      return
    }
    // The error arrives before `readyForQuery`, possibly separately. A request in between would overlap this one, which
    // not every pooler allows.
    const rejectOnce = () => {
      connection.off('readyForQuery', rejectOnce).off('end', rejectOnce)
      this.#ended.reject(error)
    }
    connection.on('readyForQuery', rejectOnce).on('end', rejectOnce)
  }
}

const countOf = (tag: string): number => Number(tag.slice(tag.lastIndexOf(' ') + 1)) || 0

const parseOf = ({ text, types }: Step['plan'], name: string): Buffer =>
  serialize.parse({ name, text, types: types as number[] })
