import type postgres from 'postgres'
import type { Leave } from './shares.ts'

/**
 * What is called before a statement is sent: a place to send it from. It throws when it may not be sent at all. Light is
 * a single statement, which is on its connection for no longer than it runs.
 */
export interface Gate {
  enter(isLight: boolean): Leave | Promise<Leave>
  /** Where a statement is being made that must not be sent from there; null where it may. */
  wrongPlace(): Error | null
}

/** A statement of the driver, which sends it when somebody first waits for its answer. */
interface Statement {
  handle(): unknown
  reject(error: unknown): void
  cursor(rows: number, onRows?: unknown): AsyncIterable<unknown>
}

/** The pool's tag, whose statements pass the gate. A fragment that becomes part of another statement does not. */
export function gatedSql<T extends Record<string, unknown>>(pool: postgres.Sql<T>, gate: Gate): postgres.ISql<T> {
  const make = pool as unknown as (first: unknown, ...rest: unknown[]) => unknown
  const tag = (first: unknown, ...rest: unknown[]) => {
    const made = make(first, ...rest)
    return isTemplate(first) ? gated(made as Statement, gate) : made
  }
  const unsafe = (...given: Parameters<typeof pool.unsafe>) =>
    gated(pool.unsafe(...given) as unknown as Statement, gate)
  const { types, typed, array, json } = pool
  return Object.assign(tag, { types, typed, array, json, unsafe }) as unknown as postgres.ISql<T>
}

const isTemplate = (first: unknown): boolean => Array.isArray(first) && 'raw' in first

function gated(statement: Statement, gate: Gate): Statement {
  const { handle, cursor } = statement
  const wrongPlace = gate.wrongPlace()
  let isAsked = false
  statement.handle = () => {
    if (isAsked) return
    isAsked = true
    const send = (leave: Leave) => {
      // The statement's own `then` would come by here again.
      Promise.prototype.then.call(statement, leave, leave)
      handle.call(statement)
    }
    try {
      const entered = enter(gate, wrongPlace, true)
      if (entered instanceof Promise) entered.then(send, (error) => statement.reject(error))
      else send(entered)
    } catch (error) {
      statement.reject(error)
    }
  }
  statement.cursor = (rows, onRows) => {
    if (onRows !== undefined) return cursor.call(statement, rows, onRows)
    return pages(
      () => enter(gate, wrongPlace, false),
      () => {
        // The driver's pages come by other ways than the statement's answer, which never comes.
        statement.handle = handle
        return cursor.call(statement, rows)
      },
    )
  }
  return statement
}

function enter(gate: Gate, wrongPlace: Error | null, isLight: boolean): Leave | Promise<Leave> {
  // A piece that was made in a transaction, and is first asked for after it, does no harm.
  const isWrong = gate.wrongPlace()
  if (isWrong !== null) throw wrongPlace ?? isWrong
  return gate.enter(isLight)
}

async function* pages(enterGate: () => Leave | Promise<Leave>, open: () => AsyncIterable<unknown>) {
  const leave = await enterGate()
  try {
    yield* open()
  } finally {
    leave()
  }
}
