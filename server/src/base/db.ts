import { AsyncLocalStorage } from 'node:async_hooks'
import { type ConnectionOptions, openConnections, type PoolerAbilities } from './postgres/connections.ts'
import { DatabaseError, isOutOfDisk, isStalePlan, isUnavailable, sqlState, violates } from './postgres/failures.ts'
import {
  type CommitProof,
  idempotent,
  type RetryOptions,
  runTransaction,
  runUntilKnown,
  type StatementProof,
  transactionOf,
} from './postgres/run-transaction.ts'
import { type Core, poolSender, SecondConnection, secondConnectionIn } from './postgres/statements.ts'
import { type Ended, type Pending, type Row, type Sql, type Statement, tagOf } from './postgres/template.ts'
import { createFairQueue } from './scheduling/fair-queue.ts'
import { currentContext, runAsService, traced } from './scheduling/work-context.ts'
import { statementSpan } from './tracing/span.ts'

/** Runs statements: the pool or a transaction. Functions that only read take this. */
export type { Sql }
/** A transaction. Functions that write take this, so that a write outside a transaction does not compile. */
export type Tx = Sql & { readonly [mark]: true }
declare const mark: unique symbol

/** Part of a statement, to embed in another. */
export type Fragment = Pending<Row[]>

/**
 * The database. An operation uses one connection at a time: inside a transaction the pool throws, because operations
 * that have a connection and wait for a second one can deadlock. Connections are shared fairly between workspaces.
 */
export interface Db {
  readonly sql: Sql
  /**
   * Runs `work` in one transaction. Retries it after a deadlock, a serialization failure, a `RetryTransaction`, a
   * connection that ends before the commit is sent, and once after a lock timeout. So `work` may run more than once and
   * must not have effects outside the database. If the answer to the commit is lost, the proof set by `setCommitProof`
   * decides whether it was committed; without a proof the error reaches the caller.
   */
  tx<T>(work: (tx: Tx) => Promise<T>, repeating?: RetryOptions): Promise<T>
  /**
   * Runs one writing statement as its own transaction, in one round trip instead of three. The message to publish, and
   * the proof that decides after a lost answer, are passed as arguments.
   */
  statement<T>(work: (tx: Tx) => Promise<T>, news?: PubSubMessage | null, proven?: StatementProof<T>): Promise<T>
  /** Calls back after each commit that published to the topic: in this process, and in others with `relayMessages`. */
  subscribe(topic: string, listener: (id: string) => void): () => void
  /** Calls back for messages that commits of this process publish, of every topic. */
  onPublish(listener: (news: PubSubMessage) => void): () => void
  /** Calls back when the LISTEN connection is restored, for subscribers that would stay stale: they never poll. */
  onReconnect(listener: () => void): () => void
  /** False from the loss of the LISTEN connection until it is restored. */
  isListening(): boolean
  /** Delivers a message of another process to the subscribers in this one. */
  deliver(news: PubSubMessage): void
  /** Calls back for every `notify` on the channel. Survives reconnects, so messages in between may be lost. */
  listen(channel: string, onPayload: (payload: string) => void): Promise<void>
  /** Runs work that would slow others down: a few at a time, and one per workspace while others wait. */
  inBulk<T>(work: () => Promise<T>): Promise<T>
  /** Throws inside a transaction of this database: for caches, which only sometimes need a connection. */
  refuseInTransaction(): void
  /** Features that the pooler in front of the database supports; null without a pooler. */
  poolerAbilities(): Promise<PoolerAbilities | null>
  /** Connections in use, requests that wait for one, and requests refused because they would have waited too long. */
  load(): { open: number; waiting: number; refused: number }
  /** Waits up to 5 s for running statements, then closes every connection. Idempotent. */
  close(): Promise<void>
}

export type { PubSubMessage, StatementProof }
/** `sqlState` returns the SQLSTATE of a database error, and '' for any other error. */
export { idempotent, isOutOfDisk, isUnavailable, SecondConnection, sqlState, violates }

export interface DbOptions extends ConnectionOptions {
  /** Called for every statement before it is sent; tests explain them. */
  onStatement?: (statement: SentStatement) => void
}

/** A type of 0 lets the database infer it. */
export type SentStatement = Pick<Statement, 'text' | 'values' | 'types'>

const lockNotAvailable = '55P03'
/** Attempts per SQLSTATE that rolled everything back. A lock timeout gets fewer, because each attempt waits. */
const attemptsOf: Record<string, number> = { '40P01': 5, '40001': 5, [lockNotAvailable]: 2 }
const maxWaiting = 500
/** Enough to keep both the database and the process busy. */
const bulkSize = 4
const maxWaitMs = 10_000
/** Time that running statements have to end on close. */
const closingMs = 5_000
/** Times that the work of one transaction may throw `RetryTransaction`. */
const maxWaits = 5

/** Thrown by work that must wait for others: rolls back, releases the connection, and runs again after `until`. */
export class RetryTransaction extends Error {
  readonly until: (db: Db) => Promise<void>

  constructor(until: (db: Db) => Promise<void>) {
    super('The transaction must wait and run again')
    this.until = until
  }
}

export function openDb(options: DbOptions): Db {
  const board = createPubSub()
  let isListening = true
  const onListening = (isHearing: boolean, error?: unknown) => {
    isListening = isHearing
    options.onListening?.(isHearing, error)
    if (isHearing) board.reconnected()
  }
  const { pool, listener, name, size, poolerAbilities } = openConnections({ ...options, onListening })
  const shares = createFairQueue({ what: 'the database', size, share: Math.ceil(size / 2), maxWaiting, maxWaitMs })
  const bulk = createFairQueue({ what: 'the service', size: bulkSize, share: 1, maxWaiting, maxWaitMs })
  const bulkWork = new AsyncLocalStorage<true>()
  const core: Core = { self: {}, pool, shares, name, look: reporter(options.onStatement) }
  const sql = tagOf(poolSender(core, true))
  const writingSql = tagOf(poolSender(core, false)) as Tx
  for (const tag of [sql, writingSql]) processes.set(tag, name)
  const refuseInTransaction = () => {
    const error = secondConnectionIn(core)
    if (error !== null) throw error
  }
  let closed: Promise<unknown> | undefined

  const db: Db = {
    sql,
    tx: async (work, repeating) => {
      refuseInTransaction()
      const messages: PubSubMessage[] = []
      const sinceMs = performance.now()
      const answer = await retry(db, () => {
        const once = (sql: Sql) => {
          messages.length = 0
          messagesOf.set(sql, messages)
          processes.set(sql, name)
          return work(sql as Tx)
        }
        return traced('internal', 'transaction', {}, () => runTransaction(core, sinceMs, repeating !== undefined, once))
      })
      // Subscribers run outside the caller's fair-scheduling slot: their work serves everyone.
      runAsService(() => messages.forEach(board.tell))
      return answer
    },
    statement: async (work, news, proven) => {
      const once = () => work(writingSql)
      const answer = await retry(db, proven === undefined ? once : () => runUntilKnown(core, proven, once))
      if (news != null) runAsService(() => board.tell(news))
      return answer
    },
    subscribe: board.subscribe,
    onPublish: board.onPublish,
    onReconnect: board.onReconnect,
    isListening: () => isListening,
    deliver: board.deliver,
    listen: listener.listen,
    inBulk: async (work) => {
      // Nested bulk work would wait for its own slot.
      if (bulkWork.getStore()) return work()
      const leave = await bulk.enter()
      try {
        return await bulkWork.run(true, work)
      } finally {
        leave()
      }
    },
    refuseInTransaction,
    poolerAbilities: () => poolerAbilities(sql),
    load: shares.load,
    close: () => {
      closed ??= Promise.all([listener.close(), pool.close(closingMs)])
      return closed.then(() => {})
    },
  }
  return db
}

const processes = new WeakMap<object, string>()
const messagesOf = new WeakMap<object, PubSubMessage[]>()

/** Returns the application name of this process's database sessions. Sessions of a pooler have another name. */
export function processName(sql: Sql): string {
  const name = processes.get(sql)
  if (name === undefined) throw new Error('processName needs the pool or a transaction of an open database')
  return name
}

/**
 * Sends the commit directly after the statements that `work` sends synchronously (by `execute`), which saves a round
 * trip while locks are held. Their answers can no longer roll back; if one of them fails, nothing is committed. A
 * statement that `work` sends later throws.
 */
export function pipelineCommit<T>(tx: Tx, work: () => Promise<T>): Promise<T> {
  const transaction = transactionOf(tx)?.transaction
  return transaction === undefined ? work() : transaction.commitBehind(work)
}

/**
 * Sets how to check whether this transaction was committed if the answer is lost: by a row that it always inserts,
 * under an id that no other transaction uses. If the row is missing, the transaction runs again.
 */
export function setCommitProof(tx: Tx, isThere: CommitProof): void {
  const one = transactionOf(tx)
  if (one !== undefined) one.proof = isThere
}

/** Sets the statement timeout of this transaction, instead of 15 s. */
export async function setStatementTimeout(tx: Tx, ms: number): Promise<void> {
  await tx`select set_config('statement_timeout', ${ms}, true)`
  transactionOf(tx)?.session.allow(ms)
}

/** Publishes a message when the transaction commits; repeats of a topic and id are dropped. */
export function publish(tx: Tx, topic: string, id: string): void {
  const messages = messagesOf.get(tx)
  if (messages === undefined || messages.some((item) => item.topic === topic && item.id === id)) return
  messages.push({ topic, id })
}

/** Returns a function that reports each statement, and its end if it belongs to a sampled trace. */
function reporter(onStatement: DbOptions['onStatement']): (statement: Statement) => Ended | undefined {
  return (statement) => {
    onStatement?.(statement)
    const { span } = currentContext()
    return span?.isKept ? statementSpan(span, statement) : undefined
  }
}

async function retry<T>(db: Db, work: () => Promise<T>): Promise<T> {
  let waits = 0
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (error instanceof RetryTransaction && waits < maxWaits) {
        waits++
        attempt--
        await error.until(db)
      } else if (attempt >= (isStalePlan(error) ? 2 : (attemptsOf[sqlState(error)] ?? 1))) throw error
    }
  }
}

/**
 * Returns true if a failed write certainly wrote nothing, so that parts of it can be retried. False if the connection
 * broke before the answer, and if no connection was available (such as `TOO_BUSY`): the caller should retry that later.
 */
export function isRolledBack(error: unknown): boolean {
  if (error instanceof DatabaseError) return !/^(57P|08)/.test(sqlState(error))
  return !(error instanceof Error && 'code' in error)
}

/** Published by a commit: a hint that may be lost. Subscribers read the truth from the database. */
interface PubSubMessage {
  topic: string
  /** Id of the subject, such as a workspace. */
  id: string
}

/** Dispatches messages within this process. */
export function createPubSub() {
  const listeners = new Map<string, Set<(id: string) => void>>()
  const ownListeners = new Set<(news: PubSubMessage) => void>()
  const looks = new Set<() => void>()
  const deliver = ({ topic, id }: PubSubMessage) => {
    for (const listener of listeners.get(topic) ?? []) listener(id)
  }
  return {
    subscribe: (topic: string, listener: (id: string) => void) => {
      const set = listeners.get(topic) ?? new Set()
      listeners.set(topic, set.add(listener))
      return () => void set.delete(listener)
    },
    /** Calls back for messages that this process publishes, of every topic. */
    onPublish: (listener: (news: PubSubMessage) => void) => {
      ownListeners.add(listener)
      return () => void ownListeners.delete(listener)
    },
    onReconnect: (listener: () => void) => {
      looks.add(listener)
      return () => void looks.delete(listener)
    },
    /** Delivers a message of another process. */
    deliver,
    /** Delivers a message of this process to subscribers and to the relay to other processes. */
    tell: (news: PubSubMessage) => {
      deliver(news)
      for (const listener of ownListeners) listener(news)
    },
    /** Notifies subscribers that they may have missed messages. */
    reconnected: () => {
      for (const listener of looks) runAsService(listener)
    },
  }
}
