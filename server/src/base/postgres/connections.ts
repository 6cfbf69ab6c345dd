import { randomBytes } from 'node:crypto'
import type pg from 'pg'
import { type DatabaseAddress, readDatabaseUrl, socketAddress } from './address.ts'
import { connector } from './connect.ts'
import { createListener, type Listener } from './listener.ts'
import { Pool } from './pool.ts'
import { findSessionMode, type SessionMode } from './pooler.ts'
import type { Sql } from './template.ts'

/** Where a database is. */
export interface DatabaseLocation {
  /** As libpq reads it. */
  url?: string
  /** Instead of `url`, what was read of one. */
  address?: DatabaseAddress
  /** Folder of a Unix socket, instead of `url`. */
  socketFolder?: string
  database?: string
  user?: string
  password?: string
}

export interface ConnectionOptions extends DatabaseLocation {
  /** The way past a pooler in transaction mode, should one stand where the database is said to be. */
  direct?: DatabaseLocation | undefined
  maxConnections?: number
  applicationName?: string
  /** How long a statement waits for a lock, 5 s unless given. */
  lockTimeoutMs?: number
  /** How long somebody waits for a connection that is to be opened, 5 s unless given. */
  connectTimeoutMs?: number
  /** After how long without a word a connection counts as lost, 16 s unless given. */
  silenceMs?: number
  /** Told when `listen` hears nothing any more, with the reason, and when it does again. */
  onListening?: (isHearing: boolean, error?: unknown) => void
}

/** What a pooler does for us. */
export interface PoolerAbilities {
  /** It keeps prepared statements. */
  keepsNames: boolean
  /** Its sessions have our limits by themselves. */
  hasLimits: boolean
  /** The direct way leads to the same server, database and role, and to no pooler. */
  isSameServer: boolean
}

export interface Connections {
  /** Of the process, or of this part of it: by it others see that it lives. */
  name: string
  size: number
  pool: Pool
  listener: Listener
  /** Null without a pooler. Asks by the pool. */
  poolerAbilities(sql: Sql): Promise<PoolerAbilities | null>
}

/** Who waits for a lock holds a connection, and may hold other locks. */
const lockTimeoutMs = 5_000
/** The same for all processes, so that the pooler need not tell the server a new one whenever it serves another of them. */
const pooledName = 'parley by pooler'
/** What every session is greeted with. A pooler may know it, and keep it apart for each of its clients. */
const greeting = { TimeZone: 'UTC', DateStyle: 'ISO, MDY' }

/** The connections of a process: many for statements, by a pooler where there is one, and one that listens, past it. */
export function openConnections(options: ConnectionOptions): Connections {
  const { direct, connectTimeoutMs, silenceMs, maxConnections: size = 10 } = options
  const address = addressOf(options)
  const settings = settingsOf(options)
  const directAddress = direct === undefined ? address : addressOf(direct)
  const openDirect = connector(directAddress, settings)
  const listener = createListener({ connect: openDirect, silenceMs, onChange: options.onListening ?? (() => {}) })
  if (direct === undefined) {
    const pool = new Pool({ size, connect: openDirect, connectTimeoutMs, silenceMs })
    return { name: settings.applicationName, size, pool, listener, poolerAbilities: async () => null }
  }
  let mode: SessionMode | undefined
  const findOurMode = async (client: pg.Client): Promise<SessionMode> => {
    // Others see by it that this process lives, before it holds anything.
    const isSeen = options.applicationName === undefined ? listener.stay() : undefined
    const [found] = await Promise.all([findSessionMode(client, { ...greeting, ...settings.parameters }), isSeen])
    mode = found
    return found
  }
  const openPooled = connector(address, {
    applicationName: options.applicationName ?? pooledName,
    parameters: null,
  })
  return {
    name: settings.applicationName,
    size,
    pool: new Pool({ size, connect: openPooled, findSessionMode: findOurMode, connectTimeoutMs, silenceMs }),
    listener,
    poolerAbilities: async (sql) => {
      await listener.stay()
      const isSameServer = await isSeenAs(sql, listener.pid(), settings.applicationName)
      return { keepsNames: mode?.names === 'shared', hasLimits: mode?.settings.length === 0, isSameServer }
    },
  }
}

/** A pooler tells its clients numbers of its own. */
async function isSeenAs(sql: Sql, pid: number | null, name: string): Promise<boolean> {
  const rows = await sql`
    select
    from pg_stat_activity
    where pid = ${pid}
      and datname = current_database()
      and usename = current_user
      and application_name = ${name}`
  return rows.length > 0
}

function addressOf({
  url,
  address,
  socketFolder = '',
  database = 'parley',
  user = 'parley',
  password,
}: DatabaseLocation) {
  if (address !== undefined) return address
  if (url !== undefined) return readDatabaseUrl(url, { PGPASSWORD: password })
  return socketAddress({ socketFolder, database, user, password: password || null })
}

const settingsOf = (options: ConnectionOptions) => ({
  applicationName: options.applicationName ?? newName(),
  parameters: {
    statement_timeout: '15000',
    lock_timeout: String(options.lockTimeoutMs ?? lockTimeoutMs),
    // A process that stalls in the midst of a transaction holds up everybody who wants its rows: for no longer than this.
    idle_in_transaction_session_timeout: '10000',
    // As they are read: a server or a role may have it otherwise.
    bytea_output: 'hex',
  },
})

/** A name of these connections alone, so that others can see in the list of sessions whether their process lives. */
const newName = () => `parley ${randomBytes(8).toString('hex')}`
