import { isIP } from 'node:net'
import { isLoopback } from '../outgoing/address.ts'

type Parameters = ReadonlyMap<string, string>

/** An address that cannot be used as it is. The words never repeat a value, which may be a password in the wrong place. */
export class AddressProblem extends Error {
  /** To be put after the name of the setting that holds the address. */
  readonly words: string

  constructor(words: string) {
    super(`The address of the database ${words}`)
    this.words = words
  }
}

function refuseIf(isWrong: boolean, words: string): void {
  if (isWrong) throw new AddressProblem(words)
}

const heeded =
  'host port user password dbname target_session_attrs connect_timeout sslmode ssl sslrootcert sslcert sslkey sslnegotiation channel_binding'.split(
    ' ',
  )

// They change nothing that matters here: sessions have a name by which processes know each other, their text is UTF-8,
// and connections are kept alive.
const harmless =
  /^(?:(?:fallback_)?application_name|client_encoding|keepalives(?:_idle|_interval|_count)?|tcp_user_timeout|sslcompression|sslsni)$/

/** Parameters of libpq that would be missed if they were not heeded, and what to do instead. */
const instead: Readonly<Record<string, string>> = {
  passfile: 'write the password into the address, or into PGPASSWORD',
  service: 'write the address itself',
  servicefile: 'write the address itself',
  options: 'set such things for the role: alter role … set …',
  hostaddr: 'write the address as the host',
  load_balance_hosts: 'the hosts are tried in turn',
  sslpassword: 'take a key without a password, readable by its user only',
  sslcrl: 'replace the authority instead of revoking its certificates',
  sslcrldir: 'replace the authority instead of revoking its certificates',
  requirepeer: 'see to it that the folder of the socket belongs to the server',
  require_auth: 'take sslmode=verify-full, which lets no stranger ask',
}

/** What stands after the question mark. A name that nobody knows is refused: it may be a misspelt sslmode. */
function readParameters(query: string): Parameters {
  const parameters = new Map<string, string>()
  for (const pair of query === '' ? [] : query.split('&')) {
    const equals = pair.indexOf('=')
    const name = equals < 0 ? '' : decode(pair.slice(0, equals))
    refuseIf(!/^\w{1,40}$/.test(name), 'must have name=value, joined by &, behind its question mark')
    refuseIf(parameters.has(name), `has the parameter ${name} twice`)
    const value = decode(pair.slice(equals + 1))
    checkKnown(name, value)
    parameters.set(name, value)
  }
  return parameters
}

function checkKnown(name: string, value: string): void {
  if (heeded.includes(name) || harmless.test(name)) return
  const isGss = name === 'gssencmode'
  if (isGss && (value === 'disable' || value === 'prefer')) return
  refuseIf(isGss, 'must not ask for gssencmode=require: take sslmode=verify-full')
  const advice = instead[name]
  refuseIf(advice !== undefined, `must not have the parameter ${name}: ${advice}`)
  throw new AddressProblem(`has the parameter ${name}, which is none of ${heeded.join(', ')}`)
}

function decode(text: string): string {
  try {
    const decoded = decodeURIComponent(text)
    if (!decoded.includes('\0')) return decoded
  } catch {}
  throw new AddressProblem('has a % that begins no character: a percent sign itself is written %25')
}

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

export interface DatabaseTls {
  mode: 'prefer' | 'require' | 'verify-ca' | 'verify-full'
  /** The file of the authorities that are believed; null for those that Node knows. */
  rootCertificateFile: string | null
  /** Whom the server takes us for, where it asks for a certificate. */
  client: { certificateFile: string; keyFile: string } | null
  /** Begins with TLS rather than asks for it. */
  isDirect: boolean
  /** Gives the password only to whoever holds the certificate that the server vouches for. */
  bindsChannel: boolean
}

const modes = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'] as const
type Mode = (typeof modes)[number]

/**
 * As libpq reads it, but that where nothing is said nothing is encrypted to this machine itself. TLS is never spoken by a
 * Unix socket.
 */
function readTls(
  parameters: Parameters,
  hosts: readonly string[],
): { tls: DatabaseTls | null; isEncrypted: (host: string) => boolean } {
  const given = readMode(parameters)
  const root = parameters.get('sslrootcert')
  refuseIf(root === '', 'must have a file as its sslrootcert, or the word system')
  refuseIf(
    given === 'prefer' && root !== undefined,
    'has sslrootcert with sslmode=prefer, which may do without TLS: take verify-full',
  )
  const isPublic = root === undefined || root === 'system'
  refuseIf(
    isPublic && (given === 'verify-ca' || (root === 'system' && given === 'require')),
    'lets any certificate pass that a public authority has given to anybody: take sslmode=verify-full, or sslrootcert with the file of your own authority',
  )
  const mode = given === 'require' && root !== undefined ? 'verify-ca' : (given ?? 'prefer')
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
  const isEncrypted = (host: string) => !host.startsWith('/') && (given !== null || !isLoopback(host))
  const tls: DatabaseTls = { mode, rootCertificateFile: isPublic ? null : root, client, isDirect, bindsChannel }
  return { tls: hosts.some(isEncrypted) ? tls : null, isEncrypted }
}

/** Null where nothing is said. */
function readMode(parameters: Parameters): Mode | null {
  const [mode, flag] = [parameters.get('sslmode'), parameters.get('ssl')]
  refuseIf(flag !== undefined && (flag !== 'true' || mode !== undefined), 'must say sslmode=… instead of ssl=…')
  if (flag !== undefined) return 'require'
  // libpq does so for `system` alone, and lets a file be passed by. Who names an authority wants it asked.
  if (mode === undefined) return parameters.has('sslrootcert') ? 'verify-full' : null
  refuseIf(mode === 'allow', 'has sslmode=allow, which nobody needs: take prefer, or better verify-full')
  const known = modes.find((one) => one === mode)
  if (known === undefined) throw new AddressProblem(`must have one of ${modes.join(', ')} as its sslmode`)
  return known
}
