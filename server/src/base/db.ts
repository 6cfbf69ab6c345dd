import { randomBytes } from 'node:crypto'
import postgres from 'postgres'

/** Anything that can run a statement: the pool or a transaction. Functions that only read take this. */
export type Sql = postgres.ISql<Types>
/** A transaction. Functions that write take this, so that a write outside one does not compile. */
export type Tx = postgres.TransactionSql<Types>

/** A piece of a statement, to be put into another. */
export type Fragment = postgres.PendingQuery<postgres.Row[]>

type Types = { numeric: number; bigint: number }

export interface Db {
  readonly sql: Sql
  /**
   * Runs `work` in one transaction. A deadlock or serialization failure is rolled back and tried again, so `work`
   * must not act on the world outside the database.
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
  /** How many transactions hold a connection now, and how many wait for one. */
  load(): { open: number; waiting: number }
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
  /** Sees every statement that is about to be sent: tests explain them. */
  onStatement?: (statement: SentStatement) => void
}

/** The parameters are as the caller gave them; a type is 0 where the database is to infer it. */
export interface SentStatement {
  text: string
  parameters: readonly unknown[]
  types: readonly number[]
}

const retryable = new Set(['40P01', '40001'])
const maxAttempts = 5

export function openDb(options: DbOptions): Db {
  const pool = openPool(options)
  const { begin, load } = countTransactions(pool)
  const listeners = new Map<string, Set<(id: string) => void>>()
  const ownListeners = new Set<(news: News) => void>()
  const hear = ({ topic, id }: News) => {
    for (const listener of listeners.get(topic) ?? []) listener(id)
  }
  const tell = (news: News) => {
    hear(news)
    for (const listener of ownListeners) listener(news)
  }

  return {
    sql: pool,
    tx: async (work) => {
      const news: News[] = []
      const answer = await persist(() => {
        news.length = 0
        return begin((tx) => {
          newsOf.set(tx, news)
          return work(tx)
        })
      })
      for (const item of news) tell(item)
      return answer
    },
    statement: async (work, news) => {
      const answer = await persist(() => work(pool as unknown as Tx))
      if (news !== undefined) tell(news)
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
    load,
    close: () => pool.end({ timeout: 5 }),
  }
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

// The driver does not tell how busy its pool is. Single statements share connections, so it is transactions that wait.
function countTransactions(pool: postgres.Sql<Types>) {
  let waiting = 0
  let open = 0
  return {
    load: () => ({ open, waiting }),
    begin: async <T>(work: (tx: Tx) => Promise<T>): Promise<T> => {
      let hasBegun = false
      waiting++
      try {
        return (await pool.begin((tx) => {
          hasBegun = true
          waiting--
          open++
          return work(tx)
        })) as T
      } finally {
        if (hasBegun) open--
        else waiting--
      }
    },
  }
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

async function persist<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (attempt === maxAttempts || !retryable.has(sqlState(error))) throw error
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

/** Whether a write that failed wrote nothing for certain: not when the connection broke before its answer came. */
export function isUndone(error: unknown): boolean {
  if (error instanceof postgres.PostgresError) return !error.code.startsWith('57P')
  return !(error instanceof Error && 'code' in error)
}
