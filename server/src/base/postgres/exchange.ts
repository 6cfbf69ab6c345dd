import pg from 'pg'
import { serialize } from 'pg-protocol'
import { ConnectionLost, DatabaseError, endsSession, isStalePlan } from './failures.ts'
import type { Prepared, Shape, Step } from './prepared.ts'
import { parserOf } from './values.ts'

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
}

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
    const { steps, main, portal } = this.#request
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
  }

  handleDataRow({ fields }: { fields: readonly (string | null)[] }): void {
    // Settings answer as well.
    if (this.#step !== this.#request.main) return
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
    const { steps, main, portal } = this.#request
    if (this.#step === main) {
      this.#count = Number(text.slice(text.lastIndexOf(' ') + 1)) || 0
      const { plan } = steps[main] as Step
      if (portal === undefined && this.#prepared.shapeOf(plan.name) === undefined) {
        this.#prepared.learn(plan.name, this.#shape ?? nothing)
      }
    }
    this.#step++
    this.#lastTag = text
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

  handleError(error: unknown): void {
    if (error instanceof DatabaseError) {
      for (const name of this.#parsed) this.#prepared.doubt(name)
      const failed = this.#request.steps[this.#step]
      if (isStalePlan(error) && failed !== undefined) this.#prepared.spoil(failed.plan.name)
    }
    // Behind the word that all is done, the end of the session says nothing of whether it was.
    const isOver = this.#step === this.#request.steps.length && endsSession(error)
    this.#ended.reject(error instanceof DatabaseError && !isOver ? error : new ConnectionLost(error))
  }
}

const parseOf = ({ text, types }: Step['plan'], name: string): Buffer =>
  serialize.parse({ name, text, types: types as number[] })
