import { AsyncLocalStorage } from 'node:async_hooks'
import { type ConnectionOptions, openConnections, type PoolerFeatures } from './postgres/connections.ts'
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
import {
  type OnEnd,
  type PendingStatement,
  type Row,
  type Sql,
  type SqlPart,
  type Statement,
  tagOf,
} from './postgres/template.ts'
import { createFairQueue } from './scheduling/fair-queue.ts'
import { currentContext, runAsService, traced } from './scheduling/work-context.ts'
import { statementSpan } from './tracing/span.ts'

/** Runs statements: the pool or a transaction. Functions that only read take this. */
export type { Sql }
/** A transaction. Functions that write take this, so that a write outside a transaction does not compile. */
export type Tx = Sql & { readonly [mark]: true }
declare const mark: unique symbol

/** Part of a statement, to embed in another. */
export type Fragment = PendingStatement<Row[]> | SqlPart

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
  tx<T>(work: (tx: Tx) => Promise<T>, retryOptions?: RetryOptions): Promise<T>
  /**
   * Runs one writing statement as its own transaction, in one round trip instead of three. The message to publish, and
   * the proof that decides after a lost answer, are passed as arguments.
   */
  statement<T>(work: (tx: Tx) => Promise<T>, message?: PubSubMessage | null, proof?: StatementProof<T>): Promise<T>
  /** Calls back after each commit that published to the topic: in this process, and in others with `relayMessages`. */
  subscribe(topic: string, listener: (id: string) => void): () => void
  /** Calls back for messages that commits of this process publish, of every topic. */
  onPublish(listener: (message: PubSubMessage) => void): () => void
  /** Calls back when the LISTEN connection is restored, for subscribers that would stay stale: they never poll. */
  onReconnect(listener: () => void): () => void
  /** False from the loss of the LISTEN connection until it is restored. */
  isListening(): boolean
  /** Delivers a message of another process to the subscribers in this one. */
  deliver(message: PubSubMessage): void
  /** Calls back for every `notify` on the channel. Survives reconnects, so messages in between may be lost. */
  listen(channel: string, onPayload: (payload: string) => void): Promise<void>
  /** Runs work that would slow others down: a few at a time, and one per workspace while others wait. */
  inBulk<T>(work: () => Promise<T>): Promise<T>
  /** Throws inside a transaction of this database: for caches, which only sometimes need a connection. */
  refuseInTransaction(): void
  /** Features that the pooler in front of the database supports; null without a pooler. */
  poolerFeatures(): Promise<PoolerFeatures | null>
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
const maxAttempts: Record<string, number> = { '40P01': 5, '40001': 5, [lockNotAvailable]: 2 }
const maxWaiting = 500
/** Enough to keep both the database and the process busy. */
const bulkSlots = 4
const maxWaitMs = 10_000
/** Time that running statements have to end on close. */
const closeTimeoutMs = 5_000
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
  const pubsub = createPubSub()
  let isListening = true
  const onListening = (isActive: boolean, error?: unknown) => {
    isListening = isActive
    options.onListening?.(isActive, error)
    if (isActive) pubsub.reconnected()
  }
  const { pool, listener, name, size, poolerFeatures } = openConnections({ ...options, onListening })
  const fairQueue = createFairQueue({ what: 'the database', size, share: Math.ceil(size / 2), maxWaiting, maxWaitMs })
  const bulkQueue = createFairQueue({ what: 'the service', size: bulkSlots, share: 1, maxWaiting, maxWaitMs })
  const bulkContext = new AsyncLocalStorage<true>()
  const core: Core = { self: {}, pool, fairQueue, name, onStatement: createReporter(options.onStatement) }
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
    tx: async (work, retryOptions) => {
      refuseInTransaction()
      const messages: PublishedMessages = new Map()
      const sinceMs = performance.now()
      const answer = await retry(db, () => {
        const once = (sql: Sql) => {
          messages.clear()
          messagesOf.set(sql, messages)
          processes.set(sql, name)
          return work(sql as Tx)
        }
        return traced('internal', 'transaction', {}, () =>
          runTransaction(core, sinceMs, retryOptions !== undefined, once),
        )
      })
      // Subscribers run outside the caller's fair-scheduling slot: their work serves everyone.
      runAsService(() => messages.forEach(pubsub.dispatch))
      return answer
    },
    statement: async (work, message, proof) => {
      const once = () => work(writingSql)
      const answer = await retry(db, proof === undefined ? once : () => runUntilKnown(core, proof, once))
      if (message != null) runAsService(() => pubsub.dispatch(message))
      return answer
    },
    subscribe: pubsub.subscribe,
    onPublish: pubsub.onPublish,
    onReconnect: pubsub.onReconnect,
    isListening: () => isListening,
    deliver: pubsub.deliver,
    listen: listener.listen,
    inBulk: async (work) => {
      // Nested bulk work would wait for its own slot.
      if (bulkContext.getStore()) return work()
      const release = await bulkQueue.enter()
      try {
        return await bulkContext.run(true, work)
      } finally {
        release()
      }
    },
    refuseInTransaction,
    poolerFeatures: () => poolerFeatures(sql),
    load: fairQueue.load,
    close: () => {
      closed ??= Promise.all([listener.close(), pool.close(closeTimeoutMs)])
      return closed.then(() => {})
    },
  }
  return db
}

const processes = new WeakMap<object, string>()
/** By topic and id: a callback publishes a hundred conversations. */
type PublishedMessages = Map<string, PubSubMessage>
const messagesOf = new WeakMap<object, PublishedMessages>()

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
  return transaction === undefined ? work() : transaction.pipelineCommit(work)
}

/**
 * Sets how to check whether this transaction was committed if the answer is lost: by a row that it always inserts,
 * under an id that no other transaction uses. If the row is missing, the transaction runs again.
 */
export function setCommitProof(tx: Tx, isCommitted: CommitProof): void {
  const one = transactionOf(tx)
  if (one !== undefined) one.proof = isCommitted
}

/** Sets the statement timeout of this transaction, instead of 15 s. */
export async function setStatementTimeout(tx: Tx, ms: number): Promise<void> {
  await tx`select set_config('statement_timeout', ${ms}, true)`
  transactionOf(tx)?.session.extendTimeout(ms)
}

/** Publishes a message when the transaction commits; repeats of a topic and id are dropped. */
export function publish(tx: Tx, topic: string, id: string): void {
  messagesOf.get(tx)?.set(`${topic} ${id}`, { topic, id })
}

/** Returns a function that reports each statement, and its end if it belongs to a sampled trace. */
function createReporter(onStatement: DbOptions['onStatement']): (statement: Statement) => OnEnd | undefined {
  return (statement) => {
    onStatement?.(statement)
    const { span } = currentContext()
    return span?.isSampled ? statementSpan(span, statement) : undefined
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
      } else if (attempt >= (isStalePlan(error) ? 2 : (maxAttempts[sqlState(error)] ?? 1))) throw error
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
  const publishListeners = new Set<(message: PubSubMessage) => void>()
  const reconnectListeners = new Set<() => void>()
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
    onPublish: (listener: (message: PubSubMessage) => void) => {
      publishListeners.add(listener)
      return () => void publishListeners.delete(listener)
    },
    onReconnect: (listener: () => void) => {
      reconnectListeners.add(listener)
      return () => void reconnectListeners.delete(listener)
    },
    /** Delivers a message of another process. */
    deliver,
    /** Delivers a message of this process to subscribers and to the relay to other processes. */
    dispatch: (message: PubSubMessage) => {
      deliver(message)
      for (const listener of publishListeners) listener(message)
    },
    /** Notifies subscribers that they may have missed messages. */
    reconnected: () => {
      for (const listener of reconnectListeners) runAsService(listener)
    },
  }
}
