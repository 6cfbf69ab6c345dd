export type Parameters = ReadonlyMap<string, string>

/** An address that cannot be used as it is. The words never repeat a value, which may be a password in the wrong place. */
export class AddressProblem extends Error {
  /** To be put after the name of the setting that holds the address. */
  readonly words: string

  constructor(words: string) {
    super(`The address of the database ${words}`)
    this.words = words
  }
}

export function refuseIf(isWrong: boolean, words: string): void {
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
export function readParameters(query: string): Parameters {
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

export function decode(text: string): string {
  try {
    const decoded = decodeURIComponent(text)
    if (!decoded.includes('\0')) return decoded
  } catch {}
  throw new AddressProblem('has a % that begins no character: a percent sign itself is written %25')
}
