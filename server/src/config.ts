import { readFileSync } from 'node:fs'
import { BlockList, isIP } from 'node:net'
import { join, resolve } from 'node:path'
import { type MediaAddress, MediaAddressError, parseMediaUrl } from './base/media-address.ts'
import { type DatabaseAddress, DatabaseUrlError, parseDatabaseUrl } from './base/postgres/address.ts'
import { memoryBytes } from './base/process-limits.ts'
import { type MailSettings, readMailSettings } from './base/smtp-address.ts'
import { readTelemetry, type TelemetrySettings } from './base/tracing/telemetry-settings.ts'

/** All settings, validated once at start. Nothing else reads the environment. */
export interface Config {
  http: {
    host: string
    port: number
    /** Public URL, without a trailing slash. */
    publicUrl: string
    /** Proxies whose `X-Forwarded-For` is trusted, as addresses or CIDR ranges. */
    trustedProxies: string[]
    /** Origins whose pages may call `/mcp` from a browser. */
    allowedOrigins: string[]
    /** Time that the process keeps serving after a stop signal, while `/readyz` fails. */
    drainMs: number
  }
  database: {
    /** URL of an external PostgreSQL; null runs the embedded one in `dataFolder`. */
    url: string | null
    /** Parsed `url`; null for the embedded server. */
    address: DatabaseAddress | null
    /** URL of the same database without the pooler; null if there is no pooler. */
    directUrl: string | null
    directAddress: DatabaseAddress | null
    maxConnections: number
  }
  /** Addresses and CIDR ranges that user-supplied URLs may reach, besides public ones. */
  allowCidrs: string[]
  dataFolder: string
  /** Where encrypted files are stored; a folder in `dataFolder` unless set. */
  media: MediaAddress
  redisUrl: string | null
  masterKey: string | null
  previousMasterKeys: string[]
  /** Token with full access to the team API, for automation. */
  teamToken: string | null
  /** Token that only reads `/metrics`. */
  metricsToken: string | null
  /** Where traces and metrics are sent; null unless OpenTelemetry is configured. */
  telemetry: TelemetrySettings | null
  /** Time after which an inactive session expires. */
  sessionIdleMs: number
  demo: boolean
  /** Simulator of the official platform; it can also move the time. `url`: another one, for scenarios. */
  simulator: {
    enabled: boolean
    host: string
    port: number
    url: string | null
    mailPort: number | null
    ssoPort: number | null
  }
  /** Model that scores conversations of scenarios; null: none. */
  judge: { url: string; model: string; key: string | null } | null
  /** Endpoint that computes vectors of articles; null: knowledge is searched by words alone. */
  embeddings: { url: string; model: string; key: string | null } | null
  /** Mail server and sender; null: no mail is sent. */
  mail: MailSettings | null
  logLevel: 'debug' | 'info' | 'warn' | 'error' | 'silent'
  limits: {
    /** Requests per minute and key; 0 disables the limit. */
    leadsPerMinute: number
    inboxPerMinute: number
    /** The same for the team API, per session or team token. */
    teamPerMinute: number
    /** Automation rules that a workspace may have on at a time. */
    automationRules: number
  }
  search: {
    /** Memory for the search indexes of large workspaces together; 0 disables them. */
    memoryBytes: number
  }
}

export type Environment = Record<string, string | undefined>

export class ConfigError extends Error {
  readonly problems: string[]

  constructor(problems: string[]) {
    super(`Parley cannot start: its settings are invalid:\n${problems.map((line) => `  - ${line}`).join('\n')}`)
    this.problems = problems
  }
}

const loopback = ['127.0.0.0/8', '::1']
const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const
/** Settings that `NAME_FILE` can read from a file, as services receive secrets; child processes don't inherit them. */
const secretNames = [
  'DATABASE_URL',
  'PARLEY_DATABASE_DIRECT_URL',
  'PGPASSWORD',
  'REDIS_URL',
  'AWS_ACCESS_KEY_ID',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
  'PARLEY_MASTER_KEY',
  'PARLEY_PREVIOUS_MASTER_KEYS',
  'PARLEY_TEAM_TOKEN',
  'PARLEY_METRICS_TOKEN',
  'PARLEY_EMBEDDINGS_KEY',
  'PARLEY_JUDGE_KEY',
  'PARLEY_SMTP_URL',
]

/** Reads the settings. Throws one `ConfigError` with every problem. `memory` is the memory of the process in bytes. */
export function loadConfig(environment: Environment, memory = memoryBytes()): Config {
  const problems: string[] = []
  const env = withSecretFiles(environment, problems)
  const read = createReader(env, problems)

  const host = read.text('PARLEY_HOST') ?? '127.0.0.1'
  const port = read.integer('PARLEY_PORT', 1, 65_535) ?? read.integer('PORT', 1, 65_535) ?? 7007
  const database = read.database('DATABASE_URL')
  const direct = read.database('PARLEY_DATABASE_DIRECT_URL')
  const masterKey = read.text('PARLEY_MASTER_KEY')
  const demo = read.flag('PARLEY_DEMO') ?? database.url === null
  const simulator = read.flag('PARLEY_SIMULATOR') ?? demo
  const allowCidrs = read.cidrs('PARLEY_ALLOW_CIDRS')
  const dataFolder = resolve(read.text('PARLEY_DATA_DIR') ?? 'data')
  if (database.url !== null && masterKey === null) {
    problems.push(
      'PARLEY_MASTER_KEY is required with DATABASE_URL, the same on all nodes. Create it with: openssl rand -base64 32',
    )
  }
  if (direct.url !== null && read.text('DATABASE_URL') === null) {
    problems.push('PARLEY_DATABASE_DIRECT_URL requires DATABASE_URL, the URL of the same database through a pooler')
  }
  const config: Config = {
    http: {
      host,
      port,
      publicUrl: (read.url('PARLEY_URL', ['http:', 'https:']) ?? `http://${urlHost(host)}:${port}`).replace(
        /\/{1,9}$/,
        '',
      ),
      trustedProxies: read.cidrs('PARLEY_TRUSTED_PROXIES'),
      allowedOrigins: read.origins('PARLEY_ALLOW_ORIGINS'),
      // With the embedded database there is no other process to take over the requests.
      drainMs: (read.integer('PARLEY_DRAIN_SECONDS', 0, 300) ?? (database.url === null ? 0 : 5)) * 1000,
    },
    database: {
      ...database,
      directUrl: direct.url,
      directAddress: direct.address,
      maxConnections: read.integer('PARLEY_DB_CONNECTIONS', 2, 500) ?? 10,
    },
    // A demo talks to this machine: to the simulator and to receivers under test.
    allowCidrs: demo || simulator ? [...allowCidrs, ...loopback] : allowCidrs,
    dataFolder,
    media: read.media('PARLEY_MEDIA_URL') ?? { kind: 'folder', folder: join(dataFolder, 'media') },
    redisUrl: read.url('REDIS_URL', ['redis:', 'rediss:']),
    masterKey: read.key('PARLEY_MASTER_KEY'),
    previousMasterKeys: read.keys('PARLEY_PREVIOUS_MASTER_KEYS'),
    teamToken: read.secret('PARLEY_TEAM_TOKEN', 24),
    metricsToken: read.secret('PARLEY_METRICS_TOKEN', 24),
    telemetry: readTelemetry(read),
    sessionIdleMs: (read.integer('PARLEY_SESSION_DAYS', 1, 90) ?? 14) * 24 * 3_600_000,
    demo,
    simulator: readSimulator(read, simulator, port),
    judge: readJudge(read),
    embeddings: readEmbeddings(read),
    mail: readMailSettings(read, simulator ? read.integer('PARLEY_SIMULATOR_MAIL_PORT', 1, 65_535) : null),
    logLevel: read.choice('PARLEY_LOG_LEVEL', logLevels) ?? 'info',
    limits: readLimits(read),
    search: {
      memoryBytes: (read.integer('PARLEY_SEARCH_MEMORY', 0, 65_536) ?? defaultSearchMemory(memory)) * 1_000_000,
    },
  }
  for (const name of Object.keys(env)) {
    if (name.startsWith('PARLEY_') && !read.known.has(name)) problems.push(`${name} is not a known setting`)
  }
  // Problems of a value that two settings use appear twice.
  if (problems.length > 0) throw new ConfigError([...new Set(problems)])
  return config
}

function readLimits(read: ReturnType<typeof createReader>): Config['limits'] {
  return {
    leadsPerMinute: read.integer('PARLEY_LEADS_RATE_LIMIT', 0, 1_000_000) ?? 3000,
    inboxPerMinute: read.integer('PARLEY_INBOX_RATE_LIMIT', 0, 1_000_000) ?? 300,
    teamPerMinute: read.integer('PARLEY_TEAM_RATE_LIMIT', 0, 1_000_000) ?? 600,
    automationRules: read.integer('PARLEY_AUTOMATION_RULES', 1, 1000) ?? 200,
  }
}

function readEmbeddings(read: ReturnType<typeof createReader>): Config['embeddings'] {
  const url = read.url('PARLEY_EMBEDDINGS_URL', ['http:', 'https:'])?.replace(/\/{1,9}$/, '') ?? null
  const model = read.text('PARLEY_EMBEDDINGS_MODEL')
  const key = read.text('PARLEY_EMBEDDINGS_KEY')
  if (url !== null && model !== null) return { url, model, key }
  if (url !== null) return read.problem('PARLEY_EMBEDDINGS_URL requires PARLEY_EMBEDDINGS_MODEL, the name of a model')
  if (model !== null || key !== null)
    return read.problem('PARLEY_EMBEDDINGS_MODEL and PARLEY_EMBEDDINGS_KEY require PARLEY_EMBEDDINGS_URL')
  return null
}

/** In megabytes: an eighth of the memory, at least 192 (the index of a million leads), at most 1024. */
const defaultSearchMemory = (memory: number): number => Math.min(Math.max(Math.floor(memory / 8_000_000), 192), 1024)

/** Returns the settings with the contents of secret files. */
function withSecretFiles(environment: Environment, problems: string[]): Environment {
  const env = { ...environment }
  for (const name of secretNames) {
    const path = env[`${name}_FILE`]?.trim()
    delete env[`${name}_FILE`]
    if (!path) continue
    if (env[name]?.trim()) problems.push(`${name} and ${name}_FILE are both set: remove one of them`)
    try {
      env[name] = readFileSync(path, 'utf8').trim()
      if (env[name] === '') problems.push(`${name}_FILE names an empty file`)
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : 'unknown'
      problems.push(`${name}_FILE names a file that cannot be read (${code})`)
    }
  }
  return env
}

function urlHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost'
  return isIP(host) === 6 ? `[${host}]` : host
}

// Each reader returns null for a missing setting, and reports a problem and returns null for an invalid one.
// A problem never repeats the value, which may be a secret in the wrong variable.
function createReader(env: Environment, problems: string[]) {
  // Settings that commands read themselves.
  const known = new Set(['PARLEY_KEY'])
  const text = (name: string): string | null => {
    known.add(name)
    return env[name]?.trim() || null
  }
  const list = (name: string): string[] =>
    (text(name) ?? '')
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== '')
  const problem = (line: string): null => {
    problems.push(line)
    return null
  }
  const listOf = (name: string, fits: (value: string) => boolean, message: string): string[] => {
    const values = list(name)
    if (!values.every(fits)) problem(`${name} must ${message}`)
    return values.filter(fits)
  }
  const isKey = (value: string) => /^[0-9a-f]{64}$/i.test(value) || Buffer.from(value, 'base64').length === 32

  return {
    known,
    text,
    problem,
    integer(name: string, min: number, max: number): number | null {
      const value = text(name)
      if (value === null) return null
      const number = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN
      return number >= min && number <= max ? number : problem(`${name} must be a whole number from ${min} to ${max}`)
    },
    flag(name: string): boolean | null {
      const value = text(name)
      if (value === null) return null
      if (['1', 'true', 'yes', 'on'].includes(value.toLowerCase())) return true
      if (['0', 'false', 'no', 'off'].includes(value.toLowerCase())) return false
      return problem(`${name} must be 1 or 0`)
    },
    url(name: string, protocols: readonly string[]): string | null {
      const value = text(name)
      if (value === null) return null
      const fits = URL.canParse(value) && protocols.includes(new URL(value).protocol)
      return fits
        ? value
        : problem(`${name} must be a URL that starts with ${protocols.map((p) => `${p}//`).join(' or ')}`)
    },
    database: (name: string) =>
      readDatabase(text(name), env.PGPASSWORD, (message) => void problems.push(`${name} ${message}`)),
    media: (name: string) => readMedia(text, name, problem),
    choice<const V extends readonly string[]>(name: string, values: V): V[number] | null {
      const value = text(name)
      if (value === null || values.includes(value)) return value
      return problem(`${name} must be one of ${values.join(', ')}`)
    },
    secret(name: string, minLength: number): string | null {
      const value = text(name)
      return value === null || value.length >= minLength
        ? value
        : problem(`${name} must have at least ${minLength} characters`)
    },
    key(name: string): string | null {
      const value = text(name)
      return value === null || isKey(value) ? value : problem(`${name} must be 32 bytes as base64 or as 64 hex digits`)
    },
    keys: (name: string) => listOf(name, isKey, 'be a comma-separated list of 32-byte keys'),
    cidrs: (name: string) => listOf(name, isCidr, 'list addresses or CIDR ranges, separated by commas'),
    origins: (name: string) =>
      listOf(name, isOrigin, 'list origins, separated by commas, such as https://inspector.example.com').map(originOf),
  }
}

function readSimulator(
  read: ReturnType<typeof createReader>,
  enabled: boolean,
  servicePort: number,
): Config['simulator'] {
  // In the form of a connection's address, with which it is compared.
  const url = read.url('PARLEY_SIMULATOR_URL', ['http:', 'https:'])
  const nextPort = servicePort === 0 || servicePort === 65_535 ? 0 : servicePort + 1
  return {
    enabled,
    host: read.text('PARLEY_SIMULATOR_HOST') ?? '127.0.0.1',
    port: read.integer('PARLEY_SIMULATOR_PORT', 0, 65_535) ?? nextPort,
    url: url === null ? null : new URL(url).href.replace(/\/{1,9}$/, ''),
    mailPort: read.integer('PARLEY_SIMULATOR_MAIL_PORT', 1, 65_535),
    ssoPort: read.integer('PARLEY_SIMULATOR_SSO_PORT', 1, 65_535),
  }
}

function readJudge(read: ReturnType<typeof createReader>): Config['judge'] {
  const url = read.url('PARLEY_JUDGE_URL', ['http:', 'https:'])
  const model = read.text('PARLEY_JUDGE_MODEL')
  const key = read.text('PARLEY_JUDGE_KEY')
  if (url === null && model === null && key === null) return null
  if (url !== null && model !== null) return { url: url.replace(/\/{1,9}$/, ''), model, key }
  return read.problem('PARLEY_JUDGE_URL and PARLEY_JUDGE_MODEL must be set together')
}

type DatabaseSetting = Pick<Config['database'], 'url' | 'address'>

function readDatabase(
  url: string | null,
  password: string | undefined,
  onProblem: (message: string) => void,
): DatabaseSetting {
  try {
    return { url, address: url === null ? null : parseDatabaseUrl(url, { PGPASSWORD: password }) }
  } catch (error) {
    if (!(error instanceof DatabaseUrlError)) throw error
    onProblem(error.detail)
    return { url: null, address: null }
  }
}

function readMedia(
  text: (name: string) => string | null,
  name: string,
  problem: (line: string) => null,
): MediaAddress | null {
  const url = text(name)
  if (url === null) return null
  try {
    return parseMediaUrl(url, {
      accessKeyId: text('AWS_ACCESS_KEY_ID'),
      secretAccessKey: text('AWS_SECRET_ACCESS_KEY'),
      sessionToken: text('AWS_SESSION_TOKEN'),
      region: text('AWS_REGION'),
    })
  } catch (error) {
    if (!(error instanceof MediaAddressError)) throw error
    return problem(`${name} ${error.message}`)
  }
}

// Desktop programs have schemes of their own, such as `vscode-webview:`.
const isOrigin = (text: string): boolean => /^[a-z][a-z0-9+.-]*:\/\/[^\s/?#@*]+$/i.test(text) && URL.canParse(text)

/** Returns the origin as browsers write it. */
function originOf(text: string): string {
  const { origin } = new URL(text)
  return origin === 'null' ? text.toLowerCase() : origin
}

function isCidr(text: string): boolean {
  const [address = '', prefix, extra] = text.split('/')
  const family = isIP(address)
  if (family === 0 || extra !== undefined) return false
  if (prefix === undefined) return true
  if (!/^\d{1,3}$/.test(prefix)) return false
  try {
    new BlockList().addSubnet(address, Number(prefix), family === 4 ? 'ipv4' : 'ipv6')
    return true
  } catch {
    return false
  }
}
