import { isIP } from 'node:net'
import { isLoopback } from '../outgoing/address.ts'

type Parameters = ReadonlyMap<string, string>

/** An invalid database URL. The words never repeat a value, which may be a password in the wrong place. */
export class DatabaseUrlError extends Error {
  /** Follows the name of the setting with the URL. */
  readonly detail: string

  constructor(detail: string) {
    super(`The database URL ${detail}`)
    this.detail = detail
  }
}

function refuseIf(isWrong: boolean, detail: string): void {
  if (isWrong) throw new DatabaseUrlError(detail)
}

const supportedParameters =
  'host port user password dbname target_session_attrs connect_timeout sslmode ssl sslrootcert sslcert sslkey sslnegotiation channel_binding'.split(
    ' ',
  )

// Irrelevant: sessions have a name by which processes recognize each other, their encoding is UTF-8, and connections
// have keepalives.
const ignoredParameters =
  /^(?:(?:fallback_)?application_name|client_encoding|keepalives(?:_idle|_interval|_count)?|tcp_user_timeout|sslcompression|sslsni)$/

/** Parameters of libpq that are not supported, and what to use instead. */
const replacements: Readonly<Record<string, string>> = {
  passfile: 'put the password in the URL or in PGPASSWORD',
  service: 'use the full URL',
  servicefile: 'use the full URL',
  options: 'set them for the role: alter role … set …',
  hostaddr: 'use the address as the host',
  load_balance_hosts: 'hosts are tried in order',
  sslpassword: 'use a key without a password, readable only by its user',
  sslcrl: 'replace the certificate authority instead of revoking its certificates',
  sslcrldir: 'replace the certificate authority instead of revoking its certificates',
  requirepeer: 'make sure that the folder of the socket belongs to the server',
  require_auth: 'use sslmode=verify-full, which authenticates the server',
}

/** Parses the query. Refuses unknown names, because one may be a misspelled sslmode. */
function readParameters(query: string): Parameters {
  const parameters = new Map<string, string>()
  for (const pair of query === '' ? [] : query.split('&')) {
    const equals = pair.indexOf('=')
    const name = equals < 0 ? '' : decode(pair.slice(0, equals))
    refuseIf(!/^\w{1,40}$/.test(name), 'must have name=value pairs, separated by &, after the question mark')
    refuseIf(parameters.has(name), `has the parameter ${name} twice`)
    const value = decode(pair.slice(equals + 1))
    checkKnown(name, value)
    parameters.set(name, value)
  }
  return parameters
}

function checkKnown(name: string, value: string): void {
  if (supportedParameters.includes(name) || ignoredParameters.test(name)) return
  const isGss = name === 'gssencmode'
  if (isGss && (value === 'disable' || value === 'prefer')) return
  refuseIf(isGss, 'must not have gssencmode=require: use sslmode=verify-full')
  const advice = replacements[name]
  refuseIf(advice !== undefined, `must not have the parameter ${name}: ${advice}`)
  throw new DatabaseUrlError(`has the unknown parameter ${name}; known are ${supportedParameters.join(', ')}`)
}

function decode(text: string): string {
  try {
    const decoded = decodeURIComponent(text)
    if (!decoded.includes('\0')) return decoded
  } catch {}
  throw new DatabaseUrlError('has an invalid % escape: write a percent sign as %25')
}

/** All that determines a database connection, as plain data. */
export interface DatabaseAddress {
  /** Tried in order. */
  hosts: readonly DatabaseHost[]
  database: string
  user: string
  password: string | null
  /** TLS settings for hosts that use TLS. */
  tls: DatabaseTls | null
  /** Whether read-only servers are skipped. */
  writable: boolean
  /** Timeout per host; null divides the available time between the hosts. */
  connectTimeoutMs: number | null
}

export interface DatabaseHost {
  /** A name, an address, or the folder of a Unix socket, which begins with a slash. */
  host: string
  port: number
  tls: boolean
}

interface SocketLogin {
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
 * Parses a database URL like libpq. Only the URL and this variable count: no password file, other variable or system
 * default. Throws `DatabaseUrlError`, which never repeats a value.
 */
export function parseDatabaseUrl(url: string, env: { PGPASSWORD?: string | undefined }): DatabaseAddress {
  refuseIf(url.length > maxUrlLength, `must have at most ${maxUrlLength} characters`)
  const scheme = /^postgres(?:ql)?:\/\//.exec(url)?.[0] ?? ''
  refuseIf(scheme === '', 'must be a URL that starts with postgres:// or postgresql://')
  const parts = split(url.slice(scheme.length))
  const places = parts.hosts === '' ? null : parts.hosts.split(',').map(parseHostAndPort)
  const parameters = readParameters(parts.query)
  const [user, password] = splitAt(parts.login, ':').map(decode) as [string, string]

  const hosts = readHosts(places, parameters)
  const role = readOnce('user', 'user', user, parameters)
  if (role === null) {
    throw new DatabaseUrlError('names no user: write postgres://user@host/database, or add user=…')
  }
  const { tls, isEncrypted } = readTls(
    parameters,
    hosts.map(({ host }) => host),
  )
  return {
    hosts: hosts.map(({ host, port }) => ({ host, port, tls: isEncrypted(host) })),
    database: readOnce('database', 'dbname', decode(parts.database), parameters) ?? role,
    user: role,
    password: readOnce('password', 'password', password, parameters) ?? (env.PGPASSWORD || null),
    tls,
    writable: readTarget(parameters.get('target_session_attrs')),
    connectTimeoutMs: readConnectTimeout(parameters.get('connect_timeout')),
  }
}

/** Returns the address of a server that listens on a Unix socket, such as the embedded one. */
export function socketAddress({ socketFolder, database, user, password }: SocketLogin): DatabaseAddress {
  const hosts = [{ host: socketFolder, port: defaultPort, tls: false }]
  return { hosts, database, user, password, tls: null, writable: true, connectTimeoutMs: null }
}

export const isSocketFolder = (host: string): boolean => host.startsWith('/')

/** Returns a host and port for people and logs. */
export function formatHost({ host, port }: DatabaseHost): string {
  if (isSocketFolder(host)) return `${host}/.s.PGSQL.${port}`
  return isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`
}

/** Splits `login@hosts/database?query`. A slash before the @ means that there is no login. */
function split(text: string): { login: string; hosts: string; database: string; query: string } {
  const [front, behind] = splitAt(text, '@')
  const hasLogin = text.includes('@') && !front.includes('/')
  const [place, query] = splitAt(hasLogin ? behind : text, '?')
  const [hosts, database] = splitAt(place, '/')
  return { login: hasLogin ? front : '', hosts, database, query }
}

/** Splits a text at the first mark; without a mark, the second part is empty. */
function splitAt(text: string, mark: string): [string, string] {
  const at = text.indexOf(mark)
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + mark.length)]
}

interface HostAndPort {
  host: string
  /** Empty if absent. */
  port: string
}

function parseHostAndPort(text: string): HostAndPort {
  refuseIf(text.includes('@'), 'has an extra @: in a user name or password, write @ as %40 and / as %2F')
  const bracketed = /^\[([^\]]*)\](?::(.*))?$/s.exec(text)
  if (bracketed !== null) return { host: decode(bracketed[1] ?? ''), port: bracketed[2] ?? '' }
  const [host, port] = splitAt(text, ':')
  refuseIf(port.includes(':'), 'has an IPv6 address without brackets: write [2001:db8::1]:5432')
  return { host: decode(host), port }
}

function readHosts(places: HostAndPort[] | null, parameters: Parameters): { host: string; port: number }[] {
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
    'names ports twice: give them after their hosts or as port=…, not both',
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
  if (host === '') throw new DatabaseUrlError('has an empty host: remove the extra comma')
  if (host.length <= maxHostLength && (isIP(host) !== 0 || /^[\w.-]+$/.test(host))) return host
  throw new DatabaseUrlError(
    'has an invalid host: use a name, an address ([::1] for IPv6) or the folder of a Unix socket, which begins with /',
  )
}

function readPort(text: string): number {
  if (text === '') return defaultPort
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0
  if (port >= 1 && port <= 65_535) return port
  throw new DatabaseUrlError(
    'must have a port from 1 to 65535 after the colon; in a user name or password, write / as %2F and : as %3A',
  )
}

/** Returns a value that can be in the authority of the URL or in a parameter, but not in both. */
function readOnce(what: string, parameter: string, front: string, parameters: Parameters): string | null {
  const named = parameters.get(parameter) ?? ''
  refuseIf(front !== '' && named !== '', `names the ${what} twice: remove ${parameter}=…`)
  return front || named || null
}

function readTarget(target: string | undefined): boolean {
  if (target === undefined || target === 'read-write' || target === 'primary') return true
  if (target === 'any') return false
  refuseIf(
    ['read-only', 'standby', 'prefer-standby'].includes(target),
    `has target_session_attrs=${target}, but Parley writes: use read-write, which is the default`,
  )
  throw new DatabaseUrlError('must have read-write, primary or any as its target_session_attrs')
}

function readConnectTimeout(text: string | undefined): number | null {
  if (text === undefined) return null
  const seconds = /^\d{1,2}$/.test(text) ? Number(text) : 0
  if (seconds >= 1 && seconds <= maxConnectTimeoutS) return seconds * 1000
  throw new DatabaseUrlError(`must have whole seconds from 1 to ${maxConnectTimeoutS} as its connect_timeout`)
}

export interface DatabaseTls {
  mode: 'prefer' | 'require' | 'verify-ca' | 'verify-full'
  /** File with the trusted certificate authorities; null for those of Node. */
  rootCertificateFile: string | null
  /** Client certificate, for servers that request one. */
  client: { certificateFile: string; keyFile: string } | null
  /** Starts with TLS instead of requesting it first. */
  isDirect: boolean
  /** Requires channel binding: sends the password only to the holder of the server's certificate. */
  bindsChannel: boolean
}

const modes = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'] as const
type Mode = (typeof modes)[number]

/** Parses TLS settings like libpq, but without any setting loopback is not encrypted. Unix sockets never use TLS. */
function readTls(
  parameters: Parameters,
  hosts: readonly string[],
): { tls: DatabaseTls | null; isEncrypted: (host: string) => boolean } {
  const requestedMode = readMode(parameters)
  const root = parameters.get('sslrootcert')
  refuseIf(root === '', 'must have a file as its sslrootcert, or the word system')
  refuseIf(
    requestedMode === 'prefer' && root !== undefined,
    'has sslrootcert with sslmode=prefer, which may skip TLS: use verify-full',
  )
  const isPublic = root === undefined || root === 'system'
  refuseIf(
    isPublic && (requestedMode === 'verify-ca' || (root === 'system' && requestedMode === 'require')),
    'accepts any public certificate: use sslmode=verify-full, or sslrootcert with the file of your own authority',
  )
  const mode = requestedMode === 'require' && root !== undefined ? 'verify-ca' : (requestedMode ?? 'prefer')
  const isStrong = mode !== 'disable' && mode !== 'prefer'

  const negotiation = parameters.get('sslnegotiation') ?? 'postgres'
  const isDirect = negotiation === 'direct'
  refuseIf(!isDirect && negotiation !== 'postgres', 'must have postgres or direct as its sslnegotiation')
  refuseIf(isDirect && !isStrong, 'has sslnegotiation=direct, which needs sslmode=require or stronger')

  const binding = parameters.get('channel_binding') ?? 'prefer'
  const bindsChannel = binding === 'require'
  refuseIf(
    !bindsChannel && binding !== 'disable' && binding !== 'prefer',
    'must have require, prefer or disable as its channel_binding',
  )
  refuseIf(
    bindsChannel && (!isStrong || hosts.some((host) => host.startsWith('/'))),
    'has channel_binding=require, which needs TCP and sslmode=require or stronger',
  )

  const [certificateFile, keyFile] = [parameters.get('sslcert'), parameters.get('sslkey')]
  refuseIf(!certificateFile !== !keyFile, 'must have both sslcert and sslkey, or neither')
  const client = certificateFile && keyFile ? { certificateFile, keyFile } : null

  if (mode === 'disable') return { tls: null, isEncrypted: () => false }
  const isEncrypted = (host: string) => !host.startsWith('/') && (requestedMode !== null || !isLoopback(host))
  const tls: DatabaseTls = { mode, rootCertificateFile: isPublic ? null : root, client, isDirect, bindsChannel }
  return { tls: hosts.some(isEncrypted) ? tls : null, isEncrypted }
}

/** Returns null if no mode is set. */
function readMode(parameters: Parameters): Mode | null {
  const [mode, flag] = [parameters.get('sslmode'), parameters.get('ssl')]
  refuseIf(flag !== undefined && (flag !== 'true' || mode !== undefined), 'must say sslmode=… instead of ssl=…')
  if (flag !== undefined) return 'require'
  // libpq does so only for `system`, and ignores a file. But a configured authority is meant to be checked.
  if (mode === undefined) return parameters.has('sslrootcert') ? 'verify-full' : null
  refuseIf(mode === 'allow', 'must not have sslmode=allow: use prefer, or better verify-full')
  const known = modes.find((one) => one === mode)
  if (known === undefined) throw new DatabaseUrlError(`must have one of ${modes.join(', ')} as its sslmode`)
  return known
}
