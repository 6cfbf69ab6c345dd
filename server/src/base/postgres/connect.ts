import type { Socket } from 'node:net'
import pg from 'pg'
import { AddressProblem, type DatabaseAddress, type DatabaseHost, nameOfHost } from './address.ts'
import { checkStartup, connectSocket, openSocket, readTlsFiles } from './socket.ts'

export interface SessionSettings {
  applicationName: string
  /** Settings of the session, sent with the greeting. Null where a pooler stands before the server and refuses them. */
  parameters: Readonly<Record<string, string>> | null
  /** For all hosts together, 5 s unless given. */
  connectTimeoutMs?: number
}

const connectTimeoutMs = 5_000
// The password, the database or the right to it: what the next host would say as well, and the same host tomorrow.
const finalCodes = new Set(['28P01', '28000', '3D000', '42501'])

export type Connect = (signal?: AbortSignal) => Promise<pg.Client>

/** Opens sessions with the host that did last time, and when that one fails, with the first of the others that will do. */
export function connector(address: DatabaseAddress, settings: SessionSettings): Connect {
  let { hosts } = address
  return async (signal) => {
    const client = await connect({ ...address, hosts }, settings, signal)
    const used = address.hosts.find(({ host, port }) => host === client.host && port === client.port)
    if (used !== undefined) hosts = [used, ...address.hosts.filter((host) => host !== used)]
    return client
  }
}

/**
 * Opens a session with the first host that will do. What no other try can mend is thrown as it is, and `NoDatabase` when
 * no host would do now. The caller has to listen to errors of the client at once, before anything else is waited for.
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
      refusals.push({ host: nameOfHost(host), reason: wordsOf(error) })
    }
  }
  throw new NoDatabase(refusals)
}

interface Refusal {
  host: string
  /** To be read after the host's name. */
  reason: string
}

/** No host of the address would do at the moment: later, or another time, one may. */
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
  patienceMs: number,
  signal: AbortSignal | undefined,
): Promise<pg.Client> {
  const files = await readTlsFiles(host.tls ? address.tls : null)
  signal?.throwIfAborted()
  const socket = openSocket(host)
  // The first thing that goes wrong, wherever it does: the driver swallows some of it, and throws some where nobody catches.
  const { promise: failed, reject: fail } = Promise.withResolvers<never>()
  failed.catch(() => undefined)
  const hungUp = () => fail(new Error('hung up before the session was open'))
  const giveUp = () => fail(new Error('is not waited for any longer'))
  const tooLate = () => fail(new Error(`does not answer within ${Math.round(patienceMs)} ms`))
  socket.on('error', fail).on('close', hungUp)
  signal?.addEventListener('abort', giveUp)
  const timer = setTimeout(tooLate, patienceMs)
  let stream: Socket | undefined
  try {
    stream = await Promise.race([connectSocket(socket, host, address.tls, files), failed])
    const client = makeClient(stream, host, address, settings)
    client.on('error', fail)
    await Promise.race([begin(client, address, settings), failed])
    client.off('error', fail)
    return client
  } catch (error) {
    stream?.destroy()
    socket.destroy()
    throw error
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', giveUp)
    socket.off('error', fail).off('close', hungUp)
  }
}

/** A client of the driver over a socket that is open. Nothing of the environment or of a password file reaches it. */
function makeClient(
  socket: Socket,
  host: DatabaseHost,
  address: DatabaseAddress,
  settings: SessionSettings,
): pg.Client {
  const { database, user, tls } = address
  const binding: Binding = { isWanted: host.tls && tls?.bindsChannel === true, isOffered: false, isProven: false }
  checkStartup(socket)
  const client = new pg.Client({
    host: host.host,
    port: host.port,
    database,
    user,
    // Without one the driver would look for a file of passwords.
    password: () => passwordOf(address, binding),
    stream: () => asUnopened(socket),
    // Each of these would be looked for in the environment if it were not given.
    ssl: false,
    sslnegotiation: 'postgres',
    client_encoding: 'UTF8',
    enableChannelBinding: binding.isWanted,
    pipeline: true,
  })
  if (binding.isWanted) insistOnBinding(client, socket, binding)
  const startup = {
    user,
    database,
    application_name: settings.applicationName,
    // A pooler knows these two, and keeps them for each of its clients.
    DateStyle: 'ISO, MDY',
    TimeZone: 'UTC',
    ...settings.parameters,
  }
  // The driver's own would add what variables of the environment say, and knows few parameters.
  return Object.assign(client, { getStartupConf: () => startup })
}

/** The driver opens its socket itself: this one tells it that it has. */
function asUnopened(socket: Socket): Socket {
  const connect = () => {
    queueMicrotask(() => socket.emit('connect'))
    return socket
  }
  return Object.assign(socket, { connect })
}

/** Whether the password is tied to the certificate of the server, so that nobody can stand between. */
interface Binding {
  isWanted: boolean
  isOffered: boolean
  isProven: boolean
}

function passwordOf({ password }: DatabaseAddress, binding: Binding): string {
  if (password === null) {
    throw new AddressProblem('names no password, and the server asks for one: write it there, or into PGPASSWORD')
  }
  if (binding.isWanted && !binding.isOffered)
    throw new Error('does not bind passwords to its certificate (channel_binding)')
  return password
}

function insistOnBinding({ connection }: pg.Client, socket: Socket, binding: Binding): void {
  connection.on('authenticationSASL', ({ mechanisms }: { mechanisms: string[] }) => {
    binding.isOffered = mechanisms.includes('SCRAM-SHA-256-PLUS')
  })
  connection.on('authenticationSASLFinal', () => {
    binding.isProven = true
  })
  connection.on('authenticationOk', () => {
    if (!binding.isProven)
      socket.destroy(new Error('lets us in without proof that it knows the password (channel_binding)'))
  })
}

interface State {
  in_hot_standby: string
  default_transaction_read_only: string
}

async function begin(client: pg.Client, { writable }: DatabaseAddress, { parameters }: SessionSettings): Promise<void> {
  const said: Partial<Record<string, string>> = {}
  const hear = ({ parameterName, parameterValue }: { parameterName: string; parameterValue: string }) => {
    said[parameterName] = parameterValue
  }
  client.connection.on('parameterStatus', hear)
  await client.connect()
  client.connection.off('parameterStatus', hear)
  if (!writable) return

  const isTold = said.in_hot_standby !== undefined && said.default_transaction_read_only !== undefined
  // What a pooler says may be long past: it was told by a server that has been replaced since.
  const state = parameters !== null && isTold ? said : await askState(client)
  if (state.in_hot_standby === 'on') throw new Error('is a standby')
  if (state.default_transaction_read_only === 'on')
    throw new Error('takes no writes (default_transaction_read_only is on)')
}

async function askState(client: pg.Client): Promise<State | Partial<State>> {
  const { rows } = await client.query<State>(`
    select
      case when pg_is_in_recovery() then 'on' else 'off' end as in_hot_standby,
      current_setting('default_transaction_read_only') as default_transaction_read_only`)
  return rows[0] ?? {}
}

function isFinal(error: unknown): boolean {
  return error instanceof AddressProblem || finalCodes.has(codeOf(error))
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}

/** A name with several addresses fails with an error for each, and no words of its own. */
function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.message === '' && error instanceof AggregateError) return error.errors.map(wordsOf).join(', ')
  return error.message || codeOf(error) || error.name
}
