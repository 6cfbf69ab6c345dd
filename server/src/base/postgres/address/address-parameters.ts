export type Parameters = ReadonlyMap<string, string>

const heeded = new Set([
  'host',
  'port',
  'user',
  'password',
  'dbname',
  'target_session_attrs',
  'connect_timeout',
  'sslmode',
  'ssl',
  'sslrootcert',
  'sslcert',
  'sslkey',
  'sslnegotiation',
  'channel_binding',
])

// They change nothing that matters here: sessions have a name by which processes know each other, their text is UTF-8,
// and connections are kept alive.
const harmless = new Set([
  'application_name',
  'fallback_application_name',
  'client_encoding',
  'keepalives',
  'keepalives_idle',
  'keepalives_interval',
  'keepalives_count',
  'tcp_user_timeout',
  'sslcompression',
  'sslsni',
])

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
export function readParameters(query: string | null): Parameters {
  const parameters = new Map<string, string>()
  for (const pair of query === null || query === '' ? [] : query.split('&')) {
    const equals = pair.indexOf('=')
    const name = equals < 0 ? '' : decode(pair.slice(0, equals))
    if (!/^\w{1,40}$/.test(name)) {
      throw new AddressProblem('must have name=value, joined by &, behind its question mark')
    }
    if (parameters.has(name)) throw new AddressProblem(`has the parameter ${name} twice`)
    const value = decode(pair.slice(equals + 1))
    checkKnown(name, value)
    parameters.set(name, value)
  }
  return parameters
}

function checkKnown(name: string, value: string): void {
  if (heeded.has(name) || harmless.has(name)) return
  if (name === 'gssencmode') {
    if (value === 'disable' || value === 'prefer') return
    throw new AddressProblem('must not ask for gssencmode=require: take sslmode=verify-full')
  }
  const advice = instead[name]
  throw new AddressProblem(
    advice === undefined
      ? `has the parameter ${name}, which is none of ${[...heeded].join(', ')}`
      : `must not have the parameter ${name}: ${advice}`,
  )
}

export function decode(text: string): string {
  try {
    const decoded = decodeURIComponent(text)
    if (!decoded.includes('\0')) return decoded
  } catch {}
  throw new AddressProblem('has a % that begins no character: a percent sign itself is written %25')
}

/** An address that cannot be used as it is. The words never repeat a value, which may be a password in the wrong place. */
export class AddressProblem extends Error {
  /** To be put after the name of the setting that holds the address. */
  readonly words: string

  constructor(words: string) {
    super(`The address of the database ${words}`)
    this.words = words
  }
}
