import type { Socket } from 'node:net'
import type pg from 'pg'
import { type DatabaseAddress, type DatabaseHost, nameOfHost } from './address/address.ts'
import { AddressProblem } from './address/address-problem.ts'
import { makeClient } from './client.ts'
import { connectSocket, openSocket, readTlsFiles } from './socket.ts'

export interface SessionSettings {
  applicationName: string
  /** Settings of the session, sent with the greeting. Null where a pooler stands before the server and refuses them. */
  parameters: Readonly<Record<string, string>> | null
  /** For all hosts together, 5 s unless given. */
  connectTimeoutMs?: number
  types?: pg.CustomTypesConfig
}

const connectTimeoutMs = 5_000
// The password, the database or the right to it: what the next host would say as well, and the same host tomorrow.
const finalCodes = new Set(['28P01', '28000', '3D000', '42501'])

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
      return await tryHost(host, address, settings, { patienceMs: address.connectTimeoutMs ?? shareMs, signal })
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

interface Limits {
  patienceMs: number
  signal: AbortSignal | undefined
}

async function tryHost(
  host: DatabaseHost,
  address: DatabaseAddress,
  settings: SessionSettings,
  { patienceMs, signal }: Limits,
): Promise<pg.Client> {
  const files = await readTlsFiles(host.tls ? address.tls : null)
  signal?.throwIfAborted()
  const socket = openSocket(host)
  const failure = failureOf(socket)
  const timer = setTimeout(
    () => failure.report(new Error(`does not answer within ${Math.round(patienceMs)} ms`)),
    patienceMs,
  )
  const giveUp = () => failure.report(new Error('is not waited for any longer'))
  signal?.addEventListener('abort', giveUp)
  let stream: Socket | undefined
  try {
    stream = await failure.or(connectSocket(socket, host, address.tls, files))
    const client = makeClient(stream, host, address, settings)
    client.on('error', failure.report)
    await failure.or(begin(client, address, settings))
    client.off('error', failure.report)
    return client
  } catch (error) {
    stream?.destroy()
    socket.destroy()
    throw error
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', giveUp)
    failure.stop()
  }
}

interface Failure {
  report(error: Error): void
  /** What the work comes to, unless something fails meanwhile. */
  or<T>(work: Promise<T>): Promise<T>
  stop(): void
}

/** The first thing that goes wrong, wherever it does. The driver swallows some of it, and throws some where nobody catches. */
function failureOf(socket: Socket): Failure {
  const failed = Promise.withResolvers<never>()
  failed.promise.catch(() => undefined)
  const hungUp = () => failed.reject(new Error('hung up before the session was open'))
  socket.on('error', failed.reject).on('close', hungUp)
  return {
    report: failed.reject,
    or: (work) => Promise.race([work, failed.promise]),
    stop: () => void socket.off('error', failed.reject).off('close', hungUp),
  }
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
