import { randomBytes } from 'node:crypto'
import type pg from 'pg'
import { type DatabaseAddress, parseDatabaseUrl, socketAddress } from './address.ts'
import { createConnector } from './connect.ts'
import { createListener, type Listener } from './listener.ts'
import { Pool } from './pool.ts'
import { detectSessionMode, type SessionMode } from './pooler.ts'
import type { Sql } from './template.ts'

/** Location of a database. */
export interface DatabaseLocation {
  /** URL as libpq reads it. */
  url?: string
  /** Parsed URL, instead of `url`. */
  address?: DatabaseAddress
  /** Folder of a Unix socket, instead of `url`. */
  socketFolder?: string
  database?: string
  user?: string
  password?: string
}

export interface ConnectionOptions extends DatabaseLocation {
  /** Address without the pooler, if the database is behind a pooler in transaction mode. */
  direct?: DatabaseLocation | undefined
  maxConnections?: number
  applicationName?: string
  /** Time that a statement waits for a lock; default 5 s. */
  lockTimeoutMs?: number
  /** Time that a request waits for a new connection; default 5 s. */
  connectTimeoutMs?: number
  /** Time without any answer after which a connection counts as lost; default 16 s. */
  silenceMs?: number
  /** Called when the LISTEN connection is lost, with the reason, and when it is restored. */
  onListening?: (isActive: boolean, error?: unknown) => void
}

/** Features that the pooler supports. */
export interface PoolerFeatures {
  /** It supports prepared statements. */
  supportsPreparedStatements: boolean
  /** Its sessions have the required limits by default. */
  hasLimits: boolean
  /** The direct address leads to the same server, database and role, without a pooler. */
  isSameServer: boolean
}

export interface Connections {
  /** Application name of the process, or this part of it: others detect by it whether it is alive. */
  name: string
  size: number
  pool: Pool
  listener: Listener
  /** Returns null without a pooler. Queries through the pool. */
  poolerFeatures(sql: Sql): Promise<PoolerFeatures | null>
}

/** A statement that waits for a lock occupies a connection, and may hold other locks. */
const lockTimeoutMs = 5_000
/** The same for all processes, so that the pooler need not set the name each time it serves another one. */
const pooledName = 'parley by pooler'
/** Startup settings of every session. A pooler may know them and keep them per client. */
const startupSettings = { TimeZone: 'UTC', DateStyle: 'ISO, MDY' }

/** Opens the connections of a process: a pool, through the pooler if there is one, and a direct LISTEN connection. */
export function openConnections(options: ConnectionOptions): Connections {
  const { direct, connectTimeoutMs, silenceMs, maxConnections: size = 10 } = options
  const address = addressOf(options)
  const settings = settingsOf(options)
  const directAddress = direct === undefined ? address : addressOf(direct)
  const openDirect = createConnector(directAddress, settings)
  const listener = createListener({ connect: openDirect, silenceMs, onChange: options.onListening ?? (() => {}) })
  if (direct === undefined) {
    const pool = new Pool({ size, connect: openDirect, connectTimeoutMs, silenceMs })
    return { name: settings.applicationName, size, pool, listener, poolerFeatures: async () => null }
  }
  let mode: SessionMode | undefined
  const detectMode = async (client: pg.Client): Promise<SessionMode> => {
    // Lets other processes see that this one is alive, before it takes a lease.
    const isVisible = options.applicationName === undefined ? listener.keepOpen() : undefined
    const [found] = await Promise.all([
      detectSessionMode(client, { ...startupSettings, ...settings.parameters }),
      isVisible,
    ])
    mode = found
    return found
  }
  const openPooled = createConnector(address, {
    applicationName: options.applicationName ?? pooledName,
    parameters: null,
  })
  return {
    name: settings.applicationName,
    size,
    pool: new Pool({ size, connect: openPooled, detectSessionMode: detectMode, connectTimeoutMs, silenceMs }),
    listener,
    poolerFeatures: async (sql) => {
      await listener.keepOpen()
      const isSameServer = await isSameSession(sql, listener.pid(), settings.applicationName)
      return {
        supportsPreparedStatements: mode?.names === 'shared',
        hasLimits: mode?.settings.length === 0,
        isSameServer,
      }
    },
  }
}

/** Checks that the server knows this pid: a pooler reports its own numbers to clients. */
async function isSameSession(sql: Sql, pid: number | null, name: string): Promise<boolean> {
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
  if (url !== undefined) return parseDatabaseUrl(url, { PGPASSWORD: password })
  return socketAddress({ socketFolder, database, user, password: password || null })
}

const settingsOf = (options: ConnectionOptions) => ({
  applicationName: options.applicationName ?? newName(),
  parameters: {
    statement_timeout: '15000',
    lock_timeout: String(options.lockTimeoutMs ?? lockTimeoutMs),
    // Limits how long a process that stalls within a transaction can hold its locks.
    idle_in_transaction_session_timeout: '10000',
    // The format that is parsed here: a server or role may have another default.
    bytea_output: 'hex',
  },
})

/** Returns a unique application name, so that others can see in the list of sessions whether the process is alive. */
const newName = () => `parley ${randomBytes(8).toString('hex')}`
