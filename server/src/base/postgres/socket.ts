import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createConnection, isIP, type Socket } from 'node:net'
import { type ConnectionOptions, connect as connectTls } from 'node:tls'
import { AddressProblem, type DatabaseHost, type DatabaseTls, isSocketFolder } from './address.ts'

const keepAliveDelayMs = 30_000
// Length, then the number that stands where others have the version of the protocol.
const tlsRequest = Buffer.from('0000000804d2162f', 'hex')

/** A socket towards the host. It never ends the process: its first listener for errors stays. */
export function openSocket({ host, port }: DatabaseHost): Socket {
  const socket = isSocketFolder(host)
    ? createConnection({ path: `${host}/.s.PGSQL.${port}` })
    : createConnection({ host, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: keepAliveDelayMs })
  return socket.on('error', () => {})
}

type TlsFiles = Pick<ConnectionOptions, 'ca' | 'cert' | 'key'>

/** Read for each connection, so that a certificate may be renewed under a service that runs. */
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
    throw new AddressProblem(`names a file as its ${name} that cannot be read (${code})`)
  }
}

/** Waits until the socket is open, and has it speak TLS where the address wants that. */
export async function connectSocket(
  socket: Socket,
  host: DatabaseHost,
  tls: DatabaseTls | null,
  files: TlsFiles,
): Promise<Socket> {
  await once(socket, 'connect')
  if (tls === null || !host.tls) return socket
  if (!tls.isDirect && !(await asksForTls(socket, tls))) return socket
  return encrypt(socket, host.host, tls, files)
}

/** Whether the server goes on in TLS. What it says beside its one letter was said by nobody knows whom. */
async function asksForTls(socket: Socket, tls: DatabaseTls): Promise<boolean> {
  const answer = new Promise<Buffer>((resolve) => socket.once('data', resolve))
  socket.write(tlsRequest)
  const letter = (await answer).toString('latin1')
  if (letter === 'S') return true
  if (letter !== 'N') throw new Error('answers the request for TLS as no PostgreSQL does')
  if (tls.mode === 'prefer') return false
  throw new Error(`speaks no TLS, which sslmode=${tls.mode} asks for`)
}

function encrypt(socket: Socket, host: string, tls: DatabaseTls, files: TlsFiles): Promise<Socket> {
  const options: ConnectionOptions = {
    ...files,
    socket,
    host,
    // Said outright, since a variable of the environment would decide otherwise.
    rejectUnauthorized: tls.mode.startsWith('verify'),
    // A name alone: an address is none that could be asked for.
    ...(isIP(host) === 0 && { servername: host }),
    ...(tls.mode === 'verify-ca' && { checkServerIdentity: () => undefined }),
    ...(tls.isDirect && { ALPNProtocols: ['postgresql'] }),
  }
  return new Promise((resolve, reject) => {
    const secure = connectTls(options)
    secure.on('error', (error) => reject(new Error(`TLS: ${error.message}`, { cause: error })))
    secure.once('secureConnect', () => {
      if (!tls.isDirect || secure.alpnProtocol === 'postgresql') return resolve(secure)
      reject(new Error('TLS: the server does not say that it is a PostgreSQL, as sslnegotiation=direct asks for'))
    })
  })
}

/** What a server may say before the session is open. */
const kinds = 'RSKZEN'
const [leastBytes, maxMessageBytes, maxGreetingBytes] = [5, 30_000, 65_536]

/**
 * Has the driver hear a greeting that is one and nothing else: it waits for ever, grows, or throws out of the socket's
 * event otherwise, and one kind of error message that is cut short keeps it reading until the process is killed. Once the
 * session is open only throwing is caught: it ends this connection instead of the process.
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

/** Takes what comes, in whatever pieces, and throws where it is no greeting; all is well from the end of one on. */
function startupCheck(): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0)
  let bytes = 0
  let isOpen = false
  return (chunk) => {
    if (isOpen) return
    bytes += chunk.length
    if (bytes > maxGreetingBytes) throw new Error('answers at a length that no PostgreSQL does')
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    while (!isOpen && rest.length > 0) {
      const size = sizeOfFirst(rest)
      if (size === null || rest.length < size) return
      const type = typeOf(rest)
      if (!isWellFormed(type, rest.subarray(5, size))) throw new Error('answers as no PostgreSQL does')
      isOpen = type === 'Z'
      rest = rest.subarray(size)
    }
  }
}

const typeOf = (message: Buffer): string => message.toString('latin1', 0, 1)

/** The bytes of the message that begins here; null while its length has not come. */
function sizeOfFirst(bytes: Buffer): number | null {
  const type = typeOf(bytes)
  if (!kinds.includes(type)) throw new Error('answers as no PostgreSQL does')
  if (bytes.length < 5) return null
  const length = bytes.readUInt32BE(1)
  if (length >= leastBytes && length <= maxMessageBytes) return length + 1
  throw new Error(type === 'E' ? oldStyleWords(bytes) : 'answers as no PostgreSQL does')
}

/** A server that cannot start a process for the connection says so in the words of twenty years ago. */
function oldStyleWords(bytes: Buffer): string {
  const words = /^[\x20-\x7e]{1,200}/.exec(bytes.toString('latin1', 1))?.[0]
  return words === undefined ? 'answers as no PostgreSQL does' : `says: ${words}`
}

function isWellFormed(type: string, body: Buffer): boolean {
  // A name and its value.
  if (type === 'S') return /^[^\0]+\0[^\0]*\0$/.test(body.toString('latin1'))
  return type === 'E' || type === 'N' ? hasFields(body) : true
}

/** Each field is a letter and a text that ends with a zero; a last zero ends them all. */
function hasFields(body: Buffer): boolean {
  let at = 0
  while (at < body.length && body[at] !== 0) {
    const end = body.indexOf(0, at + 1)
    if (end < 0) return false
    at = end + 1
  }
  return at === body.length - 1
}
