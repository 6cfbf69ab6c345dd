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

/** Anything that can run a statement: the pool or a transaction. Functions that only read take this. */
export type { Sql }
/** A transaction. Functions that write take this, so that a write outside one does not compile. */
export type Tx = Sql & { readonly [mark]: true }
declare const mark: unique symbol

/** A piece of a statement, to be put into another. */
export type Fragment = Pending<Row[]>

/**
 * The database. An operation has one connection at a time: inside a transaction the pool throws, since those that hold
 * a connection and wait for a second one may all wait for ever. Connections are shared between workspaces in turns.
 */
export interface Db {
  readonly sql: Sql
  /**
   * Runs `work` in one transaction. A deadlock or serialization failure is rolled back and tried again, a lock that
   * was waited for in vain once, and so are a `NotYet` and a connection that ends before the commit is sent: `work` must not act on
   * the world outside the database, and begins anew each time. A commit whose answer is lost is looked for by what the work is
   * `setCommitProof`; without that nobody knows, and the caller is told so.
   */
  tx<T>(work: (tx: Tx) => Promise<T>, repeating?: RetryOptions): Promise<T>
  /**
   * Runs one statement that writes: it is a transaction of its own, and costs one round trip instead of three. What it
   * would `announce` is to be said beforehand, in `news`, and so is by what it is proven where its answer is lost.
   */
  statement<T>(work: (tx: Tx) => Promise<T>, news?: PubSubMessage | null, proven?: StatementProof<T>): Promise<T>
  /** Calls back after each commit that announced the topic: of this process, and of others once `relayMessages` runs. */
  subscribe(topic: string, listener: (id: string) => void): () => void
  /** Calls back for what commits of this process announce, whatever the topic. */
  onPublish(listener: (news: PubSubMessage) => void): () => void
  /**
   * Calls back when the process hears of others again after it did not for a while: for those who would stay wrong, as they
   * never look by themselves.
   */
  onReconnect(look: () => void): () => void
  /** False from when the connection that listens has ended until it is there again. */
  isListening(): boolean
  /** Tells the listeners of this process what another one has announced. */
  deliver(news: PubSubMessage): void
  /** Calls back for every `notify` on the channel; survives reconnects, so a message may be missed meanwhile. */
  listen(channel: string, onPayload: (payload: string) => void): Promise<void>
  /**
   * Runs work on so much at once that others would feel it, in the process as in the database: a few at a time, and one
   * of each workspace while others are about.
   */
  inBulk<T>(work: () => Promise<T>): Promise<T>
  /** Throws inside a transaction of this database: for caches, which only now and then need a connection. */
  refuseInTransaction(): void
  /** What the pooler on the way does for us; null without one. */
  poolerAbilities(): Promise<PoolerAbilities | null>
  /** How many connections are in use, how much waits for one, and how much was refused since it would have waited. */
  load(): { open: number; waiting: number; refused: number }
  /** Lets running statements end, for 5 s at most, then closes every connection. May be asked for again. */
  close(): Promise<void>
}

export type { PubSubMessage, StatementProof }
/** SQLSTATE is of what the database refused; '' for any other error. */
export { idempotent, isOutOfDisk, isUnavailable, SecondConnection, sqlState, violates }

export interface DbOptions extends ConnectionOptions {
  /** Sees every statement that is about to be sent: tests explain them. */
  onStatement?: (statement: SentStatement) => void
}

/** A type is 0 where the database is to infer it. */
export type SentStatement = Pick<Statement, 'text' | 'values' | 'types'>

const lockNotAvailable = '55P03'
/** How often each failure that undid everything is met before it is the caller's. A lock was waited for each time. */
const attemptsOf: Record<string, number> = { '40P01': 5, '40001': 5, [lockNotAvailable]: 2 }
const maxWaiting = 500
/** Enough to have the database and the process at work at once. */
const bulkSize = 4
const maxWaitMs = 10_000
/** What runs at the end may end in this time. */
const closingMs = 5_000
/** How often the work of one transaction may find that it has to wait once more. */
const maxWaits = 5

/**
 * Thrown by the work of a transaction that has to wait for what others do. The transaction is undone, its connection
 * given back, and the work done again once `until` has come.
 */
export class RetryTransaction extends Error {
  readonly until: (db: Db) => Promise<void>

  constructor(until: (db: Db) => Promise<void>) {
    super('The work of a transaction has to wait, and has to be done again then')
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
      const news: PubSubMessage[] = []
      const sinceMs = performance.now()
      const answer = await retry(db, () => {
        const once = (sql: Sql) => {
          news.length = 0
          messagesOf.set(sql, news)
          processes.set(sql, name)
          return work(sql as Tx)
        }
        return traced('internal', 'transaction', {}, () => runTransaction(core, sinceMs, repeating !== undefined, once))
      })
      // What follows from it is done for all who listen, and in nobody's turn.
      runAsService(() => news.forEach(board.tell))
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
    deliver: board.hear,
    listen: listener.listen,
    inBulk: async (work) => {
      // What is part of it would wait for its own place.
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

/** The name under which this process has sessions at the database. Those that a pooler has for it are under another. */
export function processName(sql: Sql): string {
  const name = processes.get(sql)
  if (name === undefined) throw new Error('Only what talks to the database has a name there')
  return name
}

/**
 * Sends the commit right after the statements that `work` sends at once (by `execute`), which saves a round trip while
 * locks are held. What they answer can undo nothing any more; when one of them fails, nothing is committed. A statement
 * that `work` sends later throws.
 */
export function pipelineCommit<T>(tx: Tx, work: () => Promise<T>): Promise<T> {
  const transaction = transactionOf(tx)?.transaction
  return transaction === undefined ? work() : transaction.commitBehind(work)
}

/**
 * Says how to find out whether this transaction was committed, should its answer be lost: by a row that it adds whatever happens, under
 * an id that nobody else gives. What is there is done; what is not is done again.
 */
export function setCommitProof(tx: Tx, isThere: CommitProof): void {
  const one = transactionOf(tx)
  if (one !== undefined) one.proof = isThere
}

/** Lets the statements of this transaction take so long, instead of 15 s. */
export async function setStatementTimeout(tx: Tx, ms: number): Promise<void> {
  await tx`select set_config('statement_timeout', ${ms}, true)`
  transactionOf(tx)?.session.allow(ms)
}

/** Lets listeners know once the transaction has committed; each topic and id once. */
export function publish(tx: Tx, topic: string, id: string): void {
  const news = messagesOf.get(tx)
  if (news !== undefined && !news.some((item) => item.topic === topic && item.id === id)) news.push({ topic, id })
}

/** Told of each statement, whose end it asks to be told of where there is a trace of which it is a part. */
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
 * Whether a write that failed wrote nothing for certain, so that parts of it may be tried: not when the connection broke
 * before its answer came. Who was told to come later had better do so.
 */
export function isRolledBack(error: unknown): boolean {
  if (error instanceof DatabaseError) return !/^(57P|08)/.test(sqlState(error))
  return !(error instanceof Error && 'code' in error)
}

/** What listeners are told of a commit: a hint that may be lost, never the truth itself. */
interface PubSubMessage {
  topic: string
  /** What it is about, such as a workspace. */
  id: string
}

/** Who is told of news, in this process. */
export function createPubSub() {
  const listeners = new Map<string, Set<(id: string) => void>>()
  const ownListeners = new Set<(news: PubSubMessage) => void>()
  const looks = new Set<() => void>()
  const hear = ({ topic, id }: PubSubMessage) => {
    for (const listener of listeners.get(topic) ?? []) listener(id)
  }
  return {
    subscribe: (topic: string, listener: (id: string) => void) => {
      const set = listeners.get(topic) ?? new Set()
      listeners.set(topic, set.add(listener))
      return () => void set.delete(listener)
    },
    /** Of what this process itself tells, whatever the topic. */
    onPublish: (listener: (news: PubSubMessage) => void) => {
      ownListeners.add(listener)
      return () => void ownListeners.delete(listener)
    },
    onReconnect: (look: () => void) => {
      looks.add(look)
      return () => void looks.delete(look)
    },
    /** Passes on what another process has told. */
    hear,
    /** Says what this process tells: to those who hear the topic, and to those who pass it on. */
    tell: (news: PubSubMessage) => {
      hear(news)
      for (const listener of ownListeners) listener(news)
    },
    /** Has those look who may have missed something. */
    reconnected: () => {
      for (const look of looks) runAsService(look)
    },
  }
}
