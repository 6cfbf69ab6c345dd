import { randomBytes } from 'node:crypto'
import postgres from 'postgres'
import { gatedSql } from './gated-sql.ts'
import { createShares } from './shares.ts'
import { asHouse, isInTransaction, within, workInTransaction } from './work.ts'

/** Anything that can run a statement: the pool or a transaction. Functions that only read take this. */
export type Sql = postgres.ISql<Types>
/** A transaction. Functions that write take this, so that a write outside one does not compile. */
export type Tx = postgres.TransactionSql<Types>

/** A piece of a statement, to be put into another. */
export type Fragment = postgres.PendingQuery<postgres.Row[]>

type Types = { numeric: number; bigint: number }

/**
 * The database. An operation has one connection at a time: inside a transaction the pool throws, since those that hold
 * a connection and wait for a second one may all wait for ever. Connections are shared between workspaces in turns.
 */
export interface Db {
  readonly sql: Sql
  /**
   * Runs `work` in one transaction. A deadlock or serialization failure is rolled back and tried again, a lock that
   * was waited for in vain once, and so is a `NotYet`: `work` must not act on the world outside the database.
   */
  tx<T>(work: (tx: Tx) => Promise<T>): Promise<T>
  /**
   * Runs one statement that writes: it is a transaction of its own, and costs one round trip instead of three. What it
   * would `announce` is to be said beforehand, in `news`.
   */
  statement<T>(work: (tx: Tx) => Promise<T>, news?: News): Promise<T>
  /** Calls back after each commit that announced the topic: of this process, and of others once `relayNews` runs. */
  onNews(topic: string, listener: (id: string) => void): () => void
  /** Calls back for what commits of this process announce, whatever the topic. */
  onOwnNews(listener: (news: News) => void): () => void
  /** Tells the listeners of this process what another one has announced. */
  hear(news: News): void
  /** Calls back for every `notify` on the channel; survives reconnects, so a message may be missed meanwhile. */
  listen(channel: string, onPayload: (payload: string) => void): Promise<void>
  /**
   * Runs work on so much at once that others would feel it, in the process as in the database: a few at a time, and one
   * of each workspace while others are about.
   */
  inBulk<T>(work: () => Promise<T>): Promise<T>
  /** Throws inside a transaction of this database: for caches, which only now and then need a connection. */
  refuseInTransaction(): void
  /** How many connections are in use, how much waits for one, and how much was refused since it would have waited. */
  load(): { open: number; waiting: number; refused: number }
  /** Lets running statements end, then closes every connection. */
  close(): Promise<void>
}

/** What listeners are told of a commit: a hint that may be lost, never the truth itself. */
export interface News {
  topic: string
  /** What it is about, such as a workspace. */
  id: string
}

export interface DbOptions {
  url?: string
  /** Folder of a Unix socket, instead of `url`. */
  socketFolder?: string
  database?: string
  user?: string
  password?: string
  maxConnections?: number
  applicationName?: string
  /** How long a statement waits for a lock, 5 s unless given. */
  lockTimeoutMs?: number
  /** Sees every statement that is about to be sent: tests explain them. */
  onStatement?: (statement: SentStatement) => void
}

/** The parameters are as the caller gave them; a type is 0 where the database is to infer it. */
export interface SentStatement {
  text: string
  parameters: readonly unknown[]
  types: readonly number[]
}

const lockNotAvailable = '55P03'
/** How often each failure that undid everything is met before it is the caller's. A lock was waited for each time. */
const attemptsOf: Record<string, number> = { '40P01': 5, '40001': 5, [lockNotAvailable]: 2 }
/** Who waits for a lock holds a connection, and may hold other locks. */
const lockTimeoutMs = 5_000
const maxWaiting = 500
/** Enough to have the database and the process at work at once. */
const bulkSize = 4
const maxWaitMs = 10_000
/** How often the work of one transaction may find that it has to wait once more. */
const maxWaits = 5

/**
 * Thrown by the work of a transaction that has to wait for what others do. The transaction is undone, its connection
 * given back, and the work done again once `until` has come.
 */
export class NotYet extends Error {
  readonly until: (db: Db) => Promise<void>

  constructor(until: (db: Db) => Promise<void>) {
    super('The work of a transaction has to wait, and has to be done again then')
    this.until = until
  }
}

/** A fault of ours: at worst, all who hold a connection wait for one more. */
export class SecondConnection extends Error {
  constructor() {
    super('A second connection is asked for inside a transaction: hand `tx` in, or ask before it begins')
  }
}

export function openDb(options: DbOptions): Db {
  const pool = openPool(options)
  const size = options.maxConnections ?? 10
  const shares = createShares({ what: 'the database', size, share: Math.ceil(size / 2), maxWaiting, maxWaitMs })
  const bulk = createShares({ what: 'the service', size: bulkSize, share: 1, maxWaiting, maxWaitMs })
  const self = {}
  const wrongPlace = () => (isInTransaction(self) ? new SecondConnection() : null)
  const refuseInTransaction = () => {
    const error = wrongPlace()
    if (error !== null) throw error
  }
  // What only reads waits for no lock: several may be on their way by one connection while their workspace is alone.
  const sql = gatedSql(pool, { enter: shares.enter, wrongPlace })
  const writingSql = gatedSql(pool, { enter: () => shares.enter(), wrongPlace })
  const begin = async <T>(work: (tx: Tx) => Promise<T>): Promise<T> => {
    const leave = await shares.enter()
    const inside = workInTransaction(self)
    try {
      return await within(inside, () => pool.begin(work) as Promise<T>)
    } finally {
      inside.transaction.isOpen = false
      leave()
    }
  }
  const listeners = new Map<string, Set<(id: string) => void>>()
  const ownListeners = new Set<(news: News) => void>()
  const hear = ({ topic, id }: News) => {
    for (const listener of listeners.get(topic) ?? []) listener(id)
  }
  const tell = (news: News) => {
    hear(news)
    for (const listener of ownListeners) listener(news)
  }

  const db: Db = {
    sql,
    tx: async (work) => {
      refuseInTransaction()
      const news: News[] = []
      const answer = await persist(db, () => {
        news.length = 0
        return begin((tx) => {
          newsOf.set(tx, news)
          return work(tx)
        })
      })
      // What follows from it is done for all who listen, and in nobody's turn.
      asHouse(() => news.forEach(tell))
      return answer
    },
    statement: async (work, news) => {
      const answer = await persist(db, () => work(writingSql as unknown as Tx))
      if (news !== undefined) asHouse(() => tell(news))
      return answer
    },
    onNews: (topic, listener) => {
      const set = listeners.get(topic) ?? new Set()
      listeners.set(topic, set.add(listener))
      return () => void set.delete(listener)
    },
    onOwnNews: (listener) => {
      ownListeners.add(listener)
      return () => void ownListeners.delete(listener)
    },
    hear,
    listen: async (channel, onPayload) => {
      await pool.listen(channel, onPayload)
    },
    inBulk: async (work) => {
      const leave = await bulk.enter()
      try {
        return await work()
      } finally {
        leave()
      }
    },
    refuseInTransaction,
    load: shares.load,
    close: () => pool.end({ timeout: 5 }),
  }
  return db
}

function openPool(options: DbOptions): postgres.Sql<Types> {
  const settings: postgres.Options<Record<string, postgres.PostgresType>> = {
    max: options.maxConnections ?? 10,
    idle_timeout: 0,
    connect_timeout: 10,
    // The embedded server comes back within a second; long waits between tries would only prolong an outage.
    backoff: (attempt: number) => Math.min(0.05 * 2 ** attempt, 1),
    onnotice: () => {},
    ...(options.onStatement === undefined ? {} : { debug: reporter(options.onStatement) }),
    connection: {
      application_name: options.applicationName ?? processName(),
      TimeZone: 'UTC',
      statement_timeout: 15_000,
      lock_timeout: options.lockTimeoutMs ?? lockTimeoutMs,
      idle_in_transaction_session_timeout: 30_000,
    },
    // Amounts have at most 14 digits and counts stay far below 2^53: both are exact as numbers.
    types: {
      numeric: { to: 1700, from: [1700], serialize: String, parse: Number },
      bigint: { to: 20, from: [20], serialize: String, parse: Number },
    },
  }
  return (options.url === undefined
    ? postgres({
        ...settings,
        path: `${options.socketFolder}/.s.PGSQL.5432`,
        database: options.database ?? 'parley',
        user: options.user ?? 'parley',
        ...(options.password === undefined ? {} : { password: options.password }),
      })
    : postgres(options.url, settings)) as unknown as postgres.Sql<Types>
}

/** A name of this pool alone, so that others can see in the list of sessions whether its process lives. */
const processName = () => `parley ${randomBytes(8).toString('hex')}`

const newsOf = new WeakMap<object, News[]>()

/** Lets listeners know once the transaction has committed; each topic and id once. */
export function announce(tx: Tx, topic: string, id: string): void {
  const news = newsOf.get(tx)
  if (news !== undefined && !news.some((item) => item.topic === topic && item.id === id)) news.push({ topic, id })
}

function reporter(onStatement: (statement: SentStatement) => void) {
  return (_connection: number, text: string, parameters: unknown[], types: unknown[]) =>
    onStatement({ text, parameters: [...parameters], types: types.map(Number) })
}

async function persist<T>(db: Db, work: () => Promise<T>): Promise<T> {
  let waits = 0
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (error instanceof NotYet && waits < maxWaits) {
        waits++
        attempt--
        await error.until(db)
      } else if (attempt >= (attemptsOf[sqlState(error)] ?? 1)) throw error
    }
  }
}

function sqlState(error: unknown): string {
  return error instanceof postgres.PostgresError ? error.code : ''
}

// The driver takes the type of an array's first element for that of the whole array, which is wrong for these two.
const byteaArrayOid = 1001
const timestamptzArrayOid = 1185

/** A `bytea[]` parameter. */
export function byteaArray(sql: Sql, values: readonly (Buffer | null)[]) {
  // The driver would look for what to escape in each element, and there is nothing in hexadecimal digits.
  const elements = values.map((bytes) => (bytes === null ? 'null' : `"\\\\x${bytes.toString('hex')}"`))
  return sql.typed(`{${elements.join()}}`, byteaArrayOid)
}

/** A `timestamptz[]` parameter. */
export function timestampArray(sql: Sql, values: readonly (Date | null)[]): postgres.ArrayParameter {
  return sql.array(values as Date[], timestamptzArrayOid)
}

/** Whether the database refused a write because of this constraint or unique index. */
export function violates(error: unknown, constraint: string): boolean {
  return error instanceof postgres.PostgresError && error.constraint_name === constraint
}

/**
 * Whether a write that failed wrote nothing for certain, so that parts of it may be tried: not when the connection broke
 * before its answer came. Who was told to come later had better do so.
 */
export function isUndone(error: unknown): boolean {
  if (error instanceof postgres.PostgresError) return !error.code.startsWith('57P')
  return !(error instanceof Error && 'code' in error)
}
