import { isIP } from 'node:net'
import { AddressProblem, decode, type Parameters, readParameters, refuseIf } from './address-parameters.ts'
import { type DatabaseTls, readTls } from './address-tls.ts'

/** Where a database is and how it is spoken to: plain data, and all that decides it. */
export interface DatabaseAddress {
  /** Tried in turn. */
  hosts: readonly DatabaseHost[]
  database: string
  user: string
  password: string | null
  /** How TLS is spoken with the hosts that want it. */
  tls: DatabaseTls | null
  /** Whether a server that takes no writes is passed over. */
  writable: boolean
  /** For each host; null lets them share the time that there is. */
  connectTimeoutMs: number | null
}

export interface DatabaseHost {
  /** A name, an address, or the folder of a Unix socket, which begins with a slash. */
  host: string
  port: number
  tls: boolean
}

export interface SocketLogin {
  socketFolder: string
  database: string
  user: string
  password: string | null
}

const defaultPort = 5432
const maxHosts = 16
const maxUrlLength = 4096
const maxHostLength = 253
const maxConnectTimeoutS = 60

/**
 * Reads the address of a database as libpq does. Nothing but the URL and this one variable decides: no password file,
 * no other variable, no default of the machine. Throws `AddressProblem`, which never repeats a value.
 */
export function readDatabaseUrl(url: string, env: { PGPASSWORD?: string | undefined }): DatabaseAddress {
  refuseIf(url.length > maxUrlLength, `must have at most ${maxUrlLength} characters`)
  const scheme = /^postgres(?:ql)?:\/\//.exec(url)?.[0] ?? ''
  refuseIf(scheme === '', 'must be an address that starts with postgres:// or postgresql://')
  const parts = split(url.slice(scheme.length))
  const places = parts.hosts === '' ? null : parts.hosts.split(',').map(readPlace)
  const parameters = readParameters(parts.query)
  const [user, password] = before(parts.login, ':').map(decode) as [string, string]

  const hosts = readHosts(places, parameters)
  const role = onlyOne('user', 'user', user, parameters)
  if (role === null) {
    throw new AddressProblem('names no user: write postgres://user@host/database, or add user=…')
  }
  const { tls, isEncrypted } = readTls(
    parameters,
    hosts.map(({ host }) => host),
  )
  return {
    hosts: hosts.map(({ host, port }) => ({ host, port, tls: isEncrypted(host) })),
    database: onlyOne('database', 'dbname', decode(parts.database), parameters) ?? role,
    user: role,
    password: onlyOne('password', 'password', password, parameters) ?? (env.PGPASSWORD || null),
    tls,
    writable: readTarget(parameters.get('target_session_attrs')),
    connectTimeoutMs: readConnectTimeout(parameters.get('connect_timeout')),
  }
}

/** The address of a server that listens on a Unix socket, as the embedded one does. */
export function socketAddress({ socketFolder, database, user, password }: SocketLogin): DatabaseAddress {
  const hosts = [{ host: socketFolder, port: defaultPort, tls: false }]
  return { hosts, database, user, password, tls: null, writable: true, connectTimeoutMs: null }
}

export const isSocketFolder = (host: string): boolean => host.startsWith('/')

/** For people and logs. */
export function nameOfHost({ host, port }: DatabaseHost): string {
  if (isSocketFolder(host)) return `${host}/.s.PGSQL.${port}`
  return isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`
}

/** `login@hosts/database?query`, of which a slash before the @ says that there is no login. */
function split(text: string): { login: string; hosts: string; database: string; query: string } {
  const [front, behind] = before(text, '@')
  const hasLogin = text.includes('@') && !front.includes('/')
  const [place, query] = before(hasLogin ? behind : text, '?')
  const [hosts, database] = before(place, '/')
  return { login: hasLogin ? front : '', hosts, database, query }
}

/** What stands before the mark, and what behind it; all of it stands before one that is not there. */
function before(text: string, mark: string): [string, string] {
  const at = text.indexOf(mark)
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + mark.length)]
}

interface Place {
  host: string
  /** Empty where none is given. */
  port: string
}

function readPlace(text: string): Place {
  refuseIf(text.includes('@'), 'has an @ too many: in a user name or password it is written %40, and / is written %2F')
  const bracketed = /^\[([^\]]*)\](?::(.*))?$/s.exec(text)
  if (bracketed !== null) return { host: decode(bracketed[1] ?? ''), port: bracketed[2] ?? '' }
  const [host, port] = before(text, ':')
  refuseIf(port.includes(':'), 'has an IPv6 address without brackets: write [2001:db8::1]:5432')
  return { host: decode(host), port }
}

function readHosts(places: Place[] | null, parameters: Parameters): { host: string; port: number }[] {
  const named = parameters.get('host')
  refuseIf(
    named !== undefined && places?.some(({ host }) => host !== '') === true,
    'names hosts twice: give them before the database or as host=…, not both',
  )
  const found = named === undefined ? (places ?? []) : named.split(',').map((host) => ({ host, port: '' }))
  refuseIf(
    found.length === 0 || (found.length === 1 && found[0]?.host === ''),
    'names no host: write postgres://user@host/database, or host=/folder for a Unix socket',
  )
  refuseIf(found.length > maxHosts, `must name at most ${maxHosts} hosts`)
  const ports = parameters.get('port')?.split(',')
  refuseIf(
    ports !== undefined && found.some(({ port }) => port !== ''),
    'names ports twice: give them behind their hosts or as port=…, not both',
  )
  refuseIf(
    ports !== undefined && ports.length > 1 && ports.length !== found.length,
    'must have in port=… one port for all hosts, or one for each',
  )
  return found.map(({ host, port }, index) => ({
    host: checkHost(host),
    port: readPort(ports === undefined ? port : (ports[ports.length === 1 ? 0 : index] ?? '')),
  }))
}

function checkHost(host: string): string {
  if (isSocketFolder(host) && host.length <= maxHostLength && !host.includes('\0')) return host
  if (host === '') throw new AddressProblem('names an empty host: there is a comma too many')
  if (host.length <= maxHostLength && (isIP(host) !== 0 || /^[\w.-]+$/.test(host))) return host
  throw new AddressProblem(
    'names a host that is none: write a name, an address ([::1] for IPv6) or the folder of a Unix socket, which begins with /',
  )
}

function readPort(text: string): number {
  if (text === '') return defaultPort
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0
  if (port >= 1 && port <= 65_535) return port
  throw new AddressProblem(
    'must have a port from 1 to 65535 behind its colon; in a user name or password / is written %2F and : is written %3A',
  )
}

/** What may stand in the front of the URL or among its parameters. */
function onlyOne(what: string, parameter: string, front: string, parameters: Parameters): string | null {
  const named = parameters.get(parameter) ?? ''
  refuseIf(front !== '' && named !== '', `names the ${what} twice: leave out ${parameter}=…`)
  return front || named || null
}

function readTarget(target: string | undefined): boolean {
  if (target === undefined || target === 'read-write' || target === 'primary') return true
  if (target === 'any') return false
  refuseIf(
    ['read-only', 'standby', 'prefer-standby'].includes(target),
    `has target_session_attrs=${target}, but Parley writes: take read-write, which is also what it takes unasked`,
  )
  throw new AddressProblem('must have read-write, primary or any as its target_session_attrs')
}

function readConnectTimeout(text: string | undefined): number | null {
  if (text === undefined) return null
  const seconds = /^\d{1,2}$/.test(text) ? Number(text) : 0
  if (seconds >= 1 && seconds <= maxConnectTimeoutS) return seconds * 1000
  throw new AddressProblem(`must have whole seconds from 1 to ${maxConnectTimeoutS} as its connect_timeout`)
}
