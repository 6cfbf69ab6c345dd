import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createConnection, isIP, type Socket } from 'node:net'
import { type ConnectionOptions, connect as connectTls } from 'node:tls'
import { type DatabaseHost, type DatabaseTls, DatabaseUrlError, isSocketFolder } from './address.ts'

const keepAliveDelayMs = 30_000
const notPostgres = 'does not answer as PostgreSQL does'
// Length, then the SSLRequest code in place of the protocol version.
const tlsRequest = Buffer.from('0000000804d2162f', 'hex')

/** Opens a socket to the host. Its first error listener stays, so that an error can't crash the process. */
export function openSocket({ host, port }: DatabaseHost): Socket {
  const socket = isSocketFolder(host)
    ? createConnection({ path: `${host}/.s.PGSQL.${port}` })
    : createConnection({ host, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: keepAliveDelayMs })
  return socket.on('error', () => {})
}

type TlsFiles = Pick<ConnectionOptions, 'ca' | 'cert' | 'key'>

/** Reads the files for each connection, so that certificates can be renewed without a restart. */
export async function readTlsFiles(tls: DatabaseTls | null): Promise<TlsFiles> {
  const [ca, cert, key] = await Promise.all([
    readNamed('sslrootcert', tls?.rootCertificateFile),
    readNamed('sslcert', tls?.client?.certificateFile),
    readNamed('sslkey', tls?.client?.keyFile),
  ])
  return { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) }
}

async function readNamed(name: string, path: string | null | undefined): Promise<Buffer | null> {
  if (!path) return null
  try {
    return await readFile(path)
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : 'no reason'
    throw new DatabaseUrlError(`names a file for ${name} that cannot be read (${code})`)
  }
}

/** Waits until the socket is open, and starts TLS if the address requires it. */
export async function connectSocket(
  socket: Socket,
  host: DatabaseHost,
  tls: DatabaseTls | null,
  files: TlsFiles,
): Promise<Socket> {
  await once(socket, 'connect')
  if (tls === null || !host.tls) return socket
  if (!tls.isDirect && !(await negotiateTls(socket, tls))) return socket
  return encrypt(socket, host.host, tls, files)
}

/** Returns true if the server accepts TLS. Any data besides its one-byte answer is unauthenticated. */
async function negotiateTls(socket: Socket, tls: DatabaseTls): Promise<boolean> {
  const answer = new Promise<Buffer>((resolve) => socket.once('data', resolve))
  socket.write(tlsRequest)
  const letter = (await answer).toString('latin1')
  if (letter === 'S') return true
  if (letter !== 'N') throw new Error('does not answer the TLS request as PostgreSQL does')
  if (tls.mode === 'prefer') return false
  throw new Error(`does not support TLS, which sslmode=${tls.mode} requires`)
}

function encrypt(socket: Socket, host: string, tls: DatabaseTls, files: TlsFiles): Promise<Socket> {
  const options: ConnectionOptions = {
    ...files,
    socket,
    host,
    // Explicit, because an environment variable would decide otherwise.
    rejectUnauthorized: tls.mode.startsWith('verify'),
    // Only for names: SNI doesn't allow addresses.
    ...(isIP(host) === 0 && { servername: host }),
    ...(tls.mode === 'verify-ca' && { checkServerIdentity: () => undefined }),
    ...(tls.isDirect && { ALPNProtocols: ['postgresql'] }),
  }
  return new Promise((resolve, reject) => {
    const secure = connectTls(options)
    secure.on('error', (error) => reject(new Error(`TLS: ${error.message}`, { cause: error })))
    secure.once('secureConnect', () => {
      if (!tls.isDirect || secure.alpnProtocol === 'postgresql') return resolve(secure)
      reject(new Error('TLS: the server does not confirm that it is PostgreSQL, which sslnegotiation=direct requires'))
    })
  })
}

/** Message types that a server may send before the session is open. */
const startupTypes = 'RSKZEN'
const [minBytes, maxMessageBytes, maxStartupBytes] = [5, 30_000, 65_536]

/**
 * Validates the start-up messages before the driver sees them. Otherwise invalid input makes the driver wait forever,
 * grow, or throw out of the socket's event, and one kind of truncated error message makes it loop until the process is
 * killed. After start-up it only catches exceptions, which then end this connection instead of the process.
 */
export function checkStartup(socket: Socket): void {
  const check = startupCheck()
  const on = socket.on.bind(socket)
  const guarded = (listener: (chunk: Buffer) => void) => (chunk: Buffer) => {
    if (socket.destroyed) return
    try {
      check(chunk)
      listener(chunk)
    } catch (error) {
      socket.destroy(error instanceof Error ? error : new Error(String(error)))
    }
  }
  socket.on = ((event: string, listener: (chunk: Buffer) => void) =>
    on(event, event === 'data' ? guarded(listener) : listener)) as Socket['on']
}

/** Accepts chunks of any size and throws if they are not a valid start-up; accepts everything after its end. */
function startupCheck(): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0)
  let bytes = 0
  let isOpen = false
  return (chunk) => {
    if (isOpen) return
    bytes += chunk.length
    if (bytes > maxStartupBytes) throw new Error('sends more at start-up than PostgreSQL does')
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    while (!isOpen && rest.length > 0) {
      const size = sizeOfFirst(rest)
      if (size === null || rest.length < size) return
      const type = typeOf(rest)
      if (!isWellFormed(type, rest.subarray(5, size))) throw new Error(notPostgres)
      isOpen = type === 'Z'
      rest = rest.subarray(size)
    }
  }
}

const typeOf = (message: Buffer): string => message.toString('latin1', 0, 1)

/** Returns the size of the first message; null until its length has arrived. */
function sizeOfFirst(bytes: Buffer): number | null {
  const type = typeOf(bytes)
  if (!startupTypes.includes(type)) throw new Error(notPostgres)
  if (bytes.length < 5) return null
  const length = bytes.readUInt32BE(1)
  if (length >= minBytes && length <= maxMessageBytes) return length + 1
  throw new Error(type === 'E' ? oldErrorMessage(bytes) : notPostgres)
}

/** Returns the error of a server that can't fork a process for the connection, in the format of protocol version 2. */
function oldErrorMessage(bytes: Buffer): string {
  const text = /^[\x20-\x7e]{1,200}/.exec(bytes.toString('latin1', 1))?.[0]
  return text === undefined ? notPostgres : `says: ${text}`
}

function isWellFormed(type: string, body: Buffer): boolean {
  // A name and a value.
  if (type === 'S') return /^[^\0]+\0[^\0]*\0$/.test(body.toString('latin1'))
  return type === 'E' || type === 'N' ? hasFields(body) : true
}

/** Each field is a letter and a zero-terminated text; another zero ends the list. */
function hasFields(body: Buffer): boolean {
  let at = 0
  while (at < body.length && body[at] !== 0) {
    const end = body.indexOf(0, at + 1)
    if (end < 0) return false
    at = end + 1
  }
  return at === body.length - 1
}
