import type { Socket } from 'node:net'
import pg from 'pg'
import { type DatabaseAddress, type DatabaseHost, DatabaseUrlError, formatHost } from './address.ts'
import { checkStartup, connectSocket, openSocket, readTlsFiles } from './socket.ts'

export interface SessionSettings {
  applicationName: string
  /** Session settings, sent in the startup message. Null behind a pooler, which refuses them. */
  parameters: Readonly<Record<string, string>> | null
  /** For all hosts together; default 5 s. */
  connectTimeoutMs?: number
}

const connectTimeoutMs = 5_000
// Wrong password, database or permission: other hosts and later attempts would fail in the same way.
const finalCodes = new Set(['28P01', '28000', '3D000', '42501'])

export type Connect = (signal?: AbortSignal) => Promise<pg.Client>

/** Returns a function that opens sessions: first with the last host that worked, then with the others in order. */
export function createConnector(address: DatabaseAddress, settings: SessionSettings): Connect {
  let { hosts } = address
  return async (signal) => {
    const client = await connect({ ...address, hosts }, settings, signal)
    const used = address.hosts.find(({ host, port }) => host === client.host && port === client.port)
    if (used !== undefined) hosts = [used, ...address.hosts.filter((host) => host !== used)]
    return client
  }
}

/**
 * Opens a session with the first suitable host. Throws permanent errors unchanged, and `NoDatabase` if no host is
 * suitable now. The caller must add an error listener to the client synchronously.
 */
export async function connect(
  address: DatabaseAddress,
  settings: SessionSettings,
  signal?: AbortSignal,
): Promise<pg.Client> {
  const endsAt = performance.now() + (settings.connectTimeoutMs ?? connectTimeoutMs)
  const refusals: Refusal[] = []
  for (const [index, host] of address.hosts.entries()) {
    signal?.throwIfAborted()
    const shareMs = (endsAt - performance.now()) / (address.hosts.length - index)
    try {
      return await tryHost(host, address, settings, address.connectTimeoutMs ?? shareMs, signal)
    } catch (error) {
      signal?.throwIfAborted()
      if (isFinal(error)) throw error
      refusals.push({ host: formatHost(host), reason: describeFailure(error) })
    }
  }
  throw new NoDatabase(refusals)
}

interface Refusal {
  host: string
  /** Follows the host's name. */
  reason: string
}

/** No host is suitable at the moment; a later attempt may succeed. */
export class NoDatabase extends Error {
  readonly code = 'NO_DATABASE'
  readonly refusals: readonly Refusal[]

  constructor(refusals: readonly Refusal[]) {
    super(refusals.map(({ host, reason }) => `${host}: ${reason}`).join('; '))
    this.refusals = refusals
  }
}

async function tryHost(
  host: DatabaseHost,
  address: DatabaseAddress,
  settings: SessionSettings,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<pg.Client> {
  const files = await readTlsFiles(host.tls ? address.tls : null)
  signal?.throwIfAborted()
  const socket = openSocket(host)
  // The first error from anywhere: the driver swallows some, and throws others where nothing catches them.
  const { promise: failed, reject: fail } = Promise.withResolvers<never>()
  failed.catch(() => undefined)
  const onClose = () => fail(new Error('closed the connection before the session was open'))
  const onAbort = () => fail(new Error('was canceled'))
  const onTimeout = () => fail(new Error(`does not answer within ${Math.round(timeoutMs)} ms`))
  socket.on('error', fail).on('close', onClose)
  signal?.addEventListener('abort', onAbort)
  const timer = setTimeout(onTimeout, timeoutMs)
  let stream: Socket | undefined
  try {
    stream = await Promise.race([connectSocket(socket, host, address.tls, files), failed])
    const client = createClient(stream, host, address, settings)
    client.on('error', fail)
    await Promise.race([startSession(client, address, settings), failed])
    client.off('error', fail)
    return client
  } catch (error) {
    stream?.destroy()
    socket.destroy()
    throw error
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', onAbort)
    socket.off('error', fail).off('close', onClose)
  }
}

/** Creates a driver client on an open socket, independent of the environment and password files. */
function createClient(
  socket: Socket,
  host: DatabaseHost,
  address: DatabaseAddress,
  settings: SessionSettings,
): pg.Client {
  const { database, user, tls } = address
  const binding: ChannelBinding = {
    isWanted: host.tls && tls?.bindsChannel === true,
    isOffered: false,
    isProven: false,
  }
  checkStartup(socket)
  const client = new pg.Client({
    host: host.host,
    port: host.port,
    database,
    user,
    // Without a password the driver would look for a password file.
    password: () => passwordOf(address, binding),
    stream: () => withNoopConnect(socket),
    // Without values, each of these would be read from the environment.
    ssl: false,
    sslnegotiation: 'postgres',
    client_encoding: 'UTF8',
    enableChannelBinding: binding.isWanted,
    pipeline: true,
  })
  if (binding.isWanted) requireChannelBinding(client, socket, binding)
  const startup = {
    user,
    database,
    application_name: settings.applicationName,
    // Poolers know these two, and keep them for each client.
    DateStyle: 'ISO, MDY',
    TimeZone: 'UTC',
    ...settings.parameters,
  }
  // The driver's own adds values from environment variables and knows few parameters.
  return Object.assign(client, { getStartupConf: () => startup })
}

/** Makes the driver, which opens sockets itself, use this open one. */
function withNoopConnect(socket: Socket): Socket {
  const connect = () => {
    queueMicrotask(() => socket.emit('connect'))
    return socket
  }
  return Object.assign(socket, { connect })
}

/** State of channel binding, which ties the password to the server's certificate and so prevents interception. */
interface ChannelBinding {
  isWanted: boolean
  isOffered: boolean
  isProven: boolean
}

function passwordOf({ password }: DatabaseAddress, binding: ChannelBinding): string {
  if (password === null) {
    throw new DatabaseUrlError('has no password, and the server requires one: add it, or set PGPASSWORD')
  }
  if (binding.isWanted && !binding.isOffered)
    throw new Error('does not support channel binding, which channel_binding=require needs')
  return password
}

function requireChannelBinding({ connection }: pg.Client, socket: Socket, binding: ChannelBinding): void {
  connection.on('authenticationSASL', ({ mechanisms }: { mechanisms: string[] }) => {
    binding.isOffered = mechanisms.includes('SCRAM-SHA-256-PLUS')
  })
  connection.on('authenticationSASLFinal', () => {
    binding.isProven = true
  })
  connection.on('authenticationOk', () => {
    if (!binding.isProven)
      socket.destroy(new Error('accepted the login without proof that it knows the password (channel_binding)'))
  })
}

interface State {
  in_hot_standby: string
  default_transaction_read_only: string
}

async function startSession(
  client: pg.Client,
  { writable }: DatabaseAddress,
  { parameters }: SessionSettings,
): Promise<void> {
  const reported: Partial<Record<string, string>> = {}
  const onParameter = ({ parameterName, parameterValue }: { parameterName: string; parameterValue: string }) => {
    reported[parameterName] = parameterValue
  }
  client.connection.on('parameterStatus', onParameter)
  await client.connect()
  client.connection.off('parameterStatus', onParameter)
  if (!writable) return

  const isReported = reported.in_hot_standby !== undefined && reported.default_transaction_read_only !== undefined
  // A pooler's values may be outdated: from a server that was replaced since.
  const state = parameters !== null && isReported ? reported : await queryState(client)
  if (state.in_hot_standby === 'on') throw new Error('is a standby')
  if (state.default_transaction_read_only === 'on')
    throw new Error('is read-only (default_transaction_read_only is on)')
}

async function queryState(client: pg.Client): Promise<State | Partial<State>> {
  const { rows } = await client.query<State>(`
    select
      case when pg_is_in_recovery() then 'on' else 'off' end as in_hot_standby,
      current_setting('default_transaction_read_only') as default_transaction_read_only`)
  return rows[0] ?? {}
}

function isFinal(error: unknown): boolean {
  return error instanceof DatabaseUrlError || finalCodes.has(codeOf(error))
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}

/** Describes an error. A name with several addresses fails with an AggregateError without a message of its own. */
function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.message === '' && error instanceof AggregateError) return error.errors.map(describeFailure).join(', ')
  return error.message || codeOf(error) || error.name
}
