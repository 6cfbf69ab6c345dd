import { oid, Parameter, toWire, typeOf, type Value, type Wire } from './values.ts'

// biome-ignore lint/suspicious/noExplicitAny: each statement declares its row type with a type argument
export type Row = Record<string, any>
export type Rows<T extends readonly unknown[]> = T & {
  /** Number of rows returned or changed. */
  readonly count: number
}

/** A value that can be interpolated in a template. */
export type TemplateValue = Value | SqlPart | PendingStatement<readonly unknown[]>

/** Creates statements. As a template tag, a statement or a part of one; called with names, a part. */
export interface Sql {
  <T extends readonly unknown[] = Row[]>(
    strings: TemplateStringsArray,
    ...templateValues: readonly TemplateValue[]
  ): PendingStatement<T>
  /** Names of tables or columns: `select ${sql(['id', 'l.name'])} from ${sql(table)}`. */
  (names: string | readonly string[]): SqlPart
  /** `a = 1, b = 2`, for `set`. */
  set(values: Readonly<Record<string, Value>>): SqlPart
  /** `(a, b) values (1, 2)`, for `insert into`. */
  row(values: Readonly<Record<string, Value>>): SqlPart
  /** A whole number as literal text, where the planner must see it. Only for few values: each is its own statement. */
  count(value: number): SqlPart
  /** As `jsonb`. */
  json(value: unknown): Parameter
  /** A dynamic text, which must not contain external input. Without values, it may have several statements. */
  unsafe<T extends readonly unknown[] = Row[]>(text: string, values?: readonly Value[]): PendingStatement<T>
}

/** Sends statements: a transaction or the pool. */
export interface Sender {
  /** Called where a statement is created, so that the error's stack shows the place; null if it may be sent. */
  findMisuse(): Error | null
  send(statement: Statement, misplaced: Error | null): Promise<Rows<readonly unknown[]>>
  pages(statement: Statement, rows: number, misplaced: Error | null): AsyncIterable<readonly unknown[]>
}

/** A statement ready to send. */
export interface Statement {
  /** Uses the simple protocol, without values and types; may contain several statements. */
  readonly isScript: boolean
  readonly text: string
  readonly values: readonly Wire[]
  readonly types: readonly number[]
}

/** Called when a statement has ended, with its error if it failed. */
export type OnEnd = (error?: unknown) => void

/** A part of a statement that is not a template. */
export class SqlPart {
  readonly write: (draft: StatementDraft) => void

  constructor(write: (draft: StatementDraft) => void) {
    this.write = write
  }
}

/** A lazy statement: sent when first awaited, and never if interpolated in another one. */
export class PendingStatement<T extends readonly unknown[]> implements Promise<Rows<T>> {
  readonly [Symbol.toStringTag] = 'Pending'
  readonly #sender: Sender
  readonly #misplaced: Error | null
  readonly #write: (draft: StatementDraft) => void
  readonly #isScript: boolean
  #answer: Promise<Rows<T>> | null = null

  constructor(sender: Sender, write: (draft: StatementDraft) => void, isScript = false) {
    this.#sender = sender
    this.#misplaced = sender.findMisuse()
    this.#write = write
    this.#isScript = isScript
  }

  // biome-ignore lint/suspicious/noThenProperty: a statement is awaited like a promise
  then<A = Rows<T>, B = never>(
    onAnswer?: ((rows: Rows<T>) => A | PromiseLike<A>) | null,
    onError?: ((error: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#send().then(onAnswer, onError)
  }

  catch<B = never>(onError?: ((error: unknown) => B | PromiseLike<B>) | null): Promise<Rows<T> | B> {
    return this.#send().catch(onError)
  }

  finally(onEnd?: (() => void) | null): Promise<Rows<T>> {
    return this.#send().finally(onEnd)
  }

  /** Sends it now. Awaiting it later returns its answer or error. */
  execute(): this {
    this.#send().catch(() => undefined)
    return this
  }

  /** Returns the rows in pages, on demand. Occupies a connection until the end. */
  cursor(rows: number): AsyncIterable<T> {
    return this.#sender.pages(this.#draft(), rows, this.#misplaced) as AsyncIterable<T>
  }

  writeTo(draft: StatementDraft): void {
    this.#write(draft)
  }

  #send(): Promise<Rows<T>> {
    this.#answer ??= this.#sender.send(this.#draft(), this.#misplaced) as Promise<Rows<T>>
    return this.#answer
  }

  #draft(): Statement {
    const draft = new StatementDraft(this.#isScript)
    this.#write(draft)
    return draft
  }
}

const maxValues = 65_535

/** A statement under construction. */
export class StatementDraft implements Statement {
  readonly isScript: boolean
  text = ''
  readonly values: Wire[] = []
  readonly types: number[] = []

  constructor(isScript = false) {
    this.isScript = isScript
  }

  add(value: Value): void {
    // The protocol counts values in 16 bits, and the driver would send the remainder.
    if (this.values.length === maxValues) throw new RangeError(`A statement can have at most ${maxValues} values`)
    this.types.push(typeOf(value))
    this.values.push(toWire(value))
    this.text += `$${this.values.length}`
  }

  template(strings: TemplateStringsArray, templateValues: readonly TemplateValue[]): void {
    this.text += strings[0]
    for (let n = 0; n < templateValues.length; n++) {
      const templateValue = templateValues[n]
      if (templateValue instanceof PendingStatement) templateValue.writeTo(this)
      else if (templateValue instanceof SqlPart) templateValue.write(this)
      else this.add(templateValue as Value)
      this.text += strings[n + 1]
    }
  }
}

/** Creates the tag of a sender. */
export function tagOf(sender: Sender): Sql {
  const tag = (
    first: TemplateStringsArray | string | readonly string[],
    ...templateValues: readonly TemplateValue[]
  ) => {
    if (!isTemplate(first)) return names(first)
    refuseUndefined(first, templateValues)
    return new PendingStatement(sender, (draft) => draft.template(first, templateValues))
  }
  const unsafe = (text: string, values?: readonly Value[]) => {
    const write = (draft: StatementDraft) => {
      for (const value of values ?? []) draft.add(value)
      draft.text = text
    }
    return new PendingStatement(sender, write, values === undefined)
  }
  const json = (value: unknown) => new Parameter(JSON.stringify(value), oid.jsonb)
  return Object.assign(tag, { set, row, count, json, unsafe }) as Sql
}

const isTemplate = (first: TemplateStringsArray | string | readonly string[]): first is TemplateStringsArray =>
  typeof first === 'object' && 'raw' in first

function refuseUndefined(strings: TemplateStringsArray, templateValues: readonly TemplateValue[]): void {
  const at = (templateValues as readonly unknown[]).indexOf(undefined)
  if (at === -1) return
  const before = (strings[at] ?? '').trimEnd().slice(-60)
  throw new TypeError(
    `A statement has an undefined value after "${before.replace(/\s+/g, ' ')}": use null if that is intended`,
  )
}

const quoted = (name: string) =>
  name
    .split('.')
    .map((part) => `"${part.replaceAll('"', '""')}"`)
    .join('.')

const names = (given: string | readonly string[]) =>
  new SqlPart((draft) => {
    draft.text += typeof given === 'string' ? quoted(given) : given.map(quoted).join(', ')
  })

const count = (value: number) => {
  if (!Number.isSafeInteger(value)) throw new RangeError(`${value} is not a whole number`)
  return new SqlPart((draft) => {
    draft.text += String(value)
  })
}

const set = (values: Readonly<Record<string, Value>>) =>
  new SqlPart((draft) => {
    for (const [n, [name, value]] of Object.entries(values).entries()) {
      draft.text += `${n === 0 ? '' : ', '}${quoted(name)} = `
      draft.add(value)
    }
  })

const row = (values: Readonly<Record<string, Value>>) =>
  new SqlPart((draft) => {
    draft.text += `(${Object.keys(values).map(quoted).join(', ')}) values (`
    for (const [n, value] of Object.values(values).entries()) {
      if (n > 0) draft.text += ', '
      draft.add(value)
    }
    draft.text += ')'
  })
