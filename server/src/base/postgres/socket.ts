import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createConnection, isIP, type Socket } from 'node:net'
import { type ConnectionOptions, connect as connectTls } from 'node:tls'
import { type DatabaseHost, isSocketFolder } from './address/address.ts'
import { AddressProblem } from './address/address-parameters.ts'
import type { DatabaseTls } from './address/address-tls.ts'

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

export type TlsFiles = Pick<ConnectionOptions, 'ca' | 'cert' | 'key'>

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
