import { readFileSync } from 'node:fs'
import { BlockList, isIP } from 'node:net'
import { join, resolve } from 'node:path'
import { memoryBytes } from './base/machine.ts'
import { type MediaAddress, MediaAddressProblem, readMediaUrl } from './base/media-address.ts'
import { AddressProblem, type DatabaseAddress, readDatabaseUrl } from './base/postgres/address.ts'
import { readTelemetry, type TelemetrySettings } from './base/tracing/telemetry-settings.ts'

/** Everything that can be set, checked once at start. Nothing else reads the environment. */
export interface Config {
  http: {
    host: string
    port: number
    /** The address that people and links use, without a trailing slash. */
    publicUrl: string
    /** Proxies whose `X-Forwarded-For` is believed, as addresses or CIDR. */
    trustedProxies: string[]
    /** Origins whose pages may call `/mcp` from a browser. */
    allowedOrigins: string[]
    /** How long the process goes on serving after it was told to stop, while `/readyz` says that it is leaving. */
    drainMs: number
  }
  database: {
    /** An external PostgreSQL; without it the program runs one of its own in `dataFolder`. */
    url: string | null
    /** What `url` says; null for the embedded server. */
    address: DatabaseAddress | null
    /** The same database without the pooler that `url` leads to; null where there is none. */
    directUrl: string | null
    directAddress: DatabaseAddress | null
    maxConnections: number
  }
  /** Addresses and CIDR ranges that calls to addresses of users may go to, beside the public ones. */
  allowCidrs: string[]
  dataFolder: string
  /** Where files are kept, sealed; a folder in `dataFolder` unless set. */
  media: MediaAddress
  redisUrl: string | null
  masterKey: string | null
  previousMasterKeys: string[]
  /** Full rights over the team API, for automation. */
  teamToken: string | null
  /** Lets a collector read `/metrics`, and nothing else. */
  metricsToken: string | null
  /** Where traces and metrics are sent; null unless the settings of OpenTelemetry ask for it. */
  telemetry: TelemetrySettings | null
  /** How long somebody who signed in stays so without coming back. */
  sessionIdleMs: number
  demo: boolean
  /** A stand-in for the official platform beside the service; the time of both can be moved then. */
  simulator: { enabled: boolean; host: string; port: number }
  logLevel: 'debug' | 'info' | 'warn' | 'error' | 'silent'
  limits: {
    /** Requests a minute and key; 0 turns the limit off. */
    leadsPerMinute: number
    inboxPerMinute: number
    /** The same for the team's interface, by session and team token. */
    teamPerMinute: number
  }
  search: {
    /** What the memory indexes of large workspaces may take together; 0 turns them off. */
    memoryBytes: number
  }
}

export type Environment = Record<string, string | undefined>

export class ConfigError extends Error {
  readonly problems: string[]

  constructor(problems: string[]) {
    super(`Parley cannot start, its settings need a correction:\n${problems.map((line) => `  - ${line}`).join('\n')}`)
    this.problems = problems
  }
}

const loopback = ['127.0.0.0/8', '::1']
const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const
/** What may stand in a file that `NAME_FILE` names: services are handed their secrets so, and children inherit none. */
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
]

/**
 * Reads the settings; throws one `ConfigError` that lists every problem at once. `memory` is what the process may use, in
 * bytes.
 */
export function loadConfig(given: Environment, memory = memoryBytes()): Config {
  const problems: string[] = []
  const env = withSecretFiles(given, problems)
  const read = reader(env, problems)

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
      'PARLEY_MASTER_KEY is required with DATABASE_URL, since every node must hold the same key. Make one with: openssl rand -base64 32',
    )
  }
  if (direct.url !== null && read.text('DATABASE_URL') === null) {
    problems.push('PARLEY_DATABASE_DIRECT_URL goes with DATABASE_URL, which leads to the same database by a pooler')
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
      // On the embedded database there is no other process that callers could be sent to.
      drainMs: (read.integer('PARLEY_DRAIN_SECONDS', 0, 300) ?? (database.url === null ? 0 : 5)) * 1000,
    },
    database: {
      ...database,
      directUrl: direct.url,
      directAddress: direct.address,
      maxConnections: read.integer('PARLEY_DB_CONNECTIONS', 2, 500) ?? 10,
    },
    // What a demo talks to is on this machine: the simulator, and whatever is tried out with it.
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
    simulator: {
      enabled: simulator,
      host: read.text('PARLEY_SIMULATOR_HOST') ?? '127.0.0.1',
      port: read.integer('PARLEY_SIMULATOR_PORT', 0, 65_535) ?? (port === 0 || port === 65_535 ? 0 : port + 1),
    },
    logLevel: read.choice('PARLEY_LOG_LEVEL', logLevels) ?? 'info',
    limits: {
      leadsPerMinute: read.integer('PARLEY_LEADS_RATE_LIMIT', 0, 1_000_000) ?? 3000,
      inboxPerMinute: read.integer('PARLEY_INBOX_RATE_LIMIT', 0, 1_000_000) ?? 300,
      teamPerMinute: read.integer('PARLEY_TEAM_RATE_LIMIT', 0, 1_000_000) ?? 600,
    },
    search: {
      memoryBytes: (read.integer('PARLEY_SEARCH_MEMORY', 0, 65_536) ?? usualSearchMemory(memory)) * 1_000_000,
    },
  }
  for (const name of Object.keys(env)) {
    if (name.startsWith('PARLEY_') && !read.known.has(name)) problems.push(`${name} is not a setting of Parley`)
  }
  // What two settings go by is read for each.
  if (problems.length > 0) throw new ConfigError([...new Set(problems)])
  return config
}

/** In megabytes: an eighth, and on no machine less than a million leads take to be searched. */
const usualSearchMemory = (memory: number): number => Math.min(Math.max(Math.floor(memory / 8_000_000), 192), 1024)

/** The settings with what is in the files that they name. */
function withSecretFiles(given: Environment, problems: string[]): Environment {
  const env = { ...given }
  for (const name of secretNames) {
    const path = env[`${name}_FILE`]?.trim()
    delete env[`${name}_FILE`]
    if (!path) continue
    if (env[name]?.trim()) problems.push(`${name} and ${name}_FILE are both set: leave one of them out`)
    try {
      env[name] = readFileSync(path, 'utf8').trim()
      if (env[name] === '') problems.push(`${name}_FILE names a file that is empty`)
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

// Each reader answers null for what is not set, and notes a problem (and answers null) for what is set wrongly.
// A problem never repeats the value: it may be a secret in the wrong place.
function reader(env: Environment, problems: string[]) {
  // What commands read by themselves.
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
  const listOf = (name: string, fits: (value: string) => boolean, words: string): string[] => {
    const values = list(name)
    if (!values.every(fits)) problem(`${name} must ${words}`)
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
        : problem(`${name} must be an address that starts with ${protocols.map((p) => `${p}//`).join(' or ')}`)
    },
    database: (name: string) =>
      readDatabase(text(name), env.PGPASSWORD, (words) => void problems.push(`${name} ${words}`)),
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

type DatabaseSetting = Pick<Config['database'], 'url' | 'address'>

function readDatabase(
  url: string | null,
  password: string | undefined,
  complain: (words: string) => void,
): DatabaseSetting {
  try {
    return { url, address: url === null ? null : readDatabaseUrl(url, { PGPASSWORD: password }) }
  } catch (error) {
    if (!(error instanceof AddressProblem)) throw error
    complain(error.words)
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
    return readMediaUrl(url, {
      accessKeyId: text('AWS_ACCESS_KEY_ID'),
      secretAccessKey: text('AWS_SECRET_ACCESS_KEY'),
      sessionToken: text('AWS_SESSION_TOKEN'),
      region: text('AWS_REGION'),
    })
  } catch (error) {
    if (!(error instanceof MediaAddressProblem)) throw error
    return problem(`${name} ${error.message}`)
  }
}

// Desktop programs have schemes of their own, such as `vscode-webview:`.
const isOrigin = (text: string): boolean => /^[a-z][a-z0-9+.-]*:\/\/[^\s/?#@*]+$/i.test(text) && URL.canParse(text)

/** As a browser writes it. */
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
