import { Resolver as NameServers } from 'node:dns/promises'
import { readFile, stat } from 'node:fs/promises'
import { isIP, type LookupFunction } from 'node:net'
import { addressSet, normalAddress, normalRange } from './address.ts'

/** Target of a request, parsed from its URL. */
export interface Target {
  isHttps: boolean
  /** A name without trailing dot, or an address without brackets. */
  host: string
  isLiteral: boolean
  port: number
  path: string
  /** Why only addresses that the operator allows are permitted; null if public ones are too. */
  restriction: string | null
}

const maxUrlLength = 2048
const byOperator = 'only to addresses that an operator allows with PARLEY_ALLOW_CIDRS'

/** Parses a URL from a user, or returns why it is invalid, as a text that follows the field name. */
export function parseTarget(text: string): Target | { refused: string } {
  if (text.length > maxUrlLength) return { refused: `is longer than ${maxUrlLength} characters` }
  if (!URL.canParse(text)) return { refused: 'is not a valid URL: use a form such as https://example.com/path' }
  const url = new URL(text)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return { refused: 'must begin with https://' }
  if (url.username !== '' || url.password !== '') return { refused: 'must not contain a user name or password' }
  if (url.href.includes('#')) return { refused: 'must not have a fragment: remove the part from # on' }
  // The parser has normalized every IPv4 notation (octal, hex, short, fullwidth).
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
  const isLiteral = isIP(host) !== 0
  if (!isLiteral && host.split('.').includes('')) return { refused: 'has an empty part in its host name' }
  const isHttps = url.protocol === 'https:'
  const port = url.port === '' ? (isHttps ? 443 : 80) : Number(url.port)
  const path = url.pathname + url.search
  return { isHttps, host, isLiteral, port, path, restriction: findRestriction(isHttps, port, isLiteral ? null : host) }
}

function findRestriction(isHttps: boolean, port: number, name: string | null): string | null {
  if (!isHttps) return `must begin with https://: http is allowed ${byOperator}`
  if (port !== 443 && port < 1024) return `uses port ${port}: ports below 1024 except 443 are allowed ${byOperator}`
  const isInternalName = name !== null && (!name.includes('.') || /\.(?:local|internal|localhost)$/.test(name))
  return isInternalName
    ? `names the host ${name}, which is not a public name: such names are allowed ${byOperator}`
    : null
}

/** A refusal of the guard, passed through Node's network stack. */
export class GuardError extends Error {
  readonly code: 'forbidden_address' | 'dns' | 'timeout' | 'withheld'

  constructor(code: GuardError['code']) {
    super(code)
    this.code = code
  }
}

/** Returns why an address in the URL is refused; null if it is allowed, and for names. */
export function refusalOfLiteral({ host, isLiteral, restriction }: Target, filter: AddressFilter): string | null {
  if (!isLiteral) return null
  const decision = filter(host)
  if (decision === 'allowed') return null
  if (decision === 'public') return restriction
  return `names the address ${host}, which is ${decision.refused}; an operator may allow it with PARLEY_ALLOW_CIDRS`
}

/** Returns why a name is refused, without resolving it: its addresses are checked at each call. */
export function refusalOfName(target: Target, filter: AddressFilter, allowCidrs: readonly string[]): string | null {
  const { host, isLiteral, restriction } = target
  if (isLiteral || restriction === null) return null
  if (/^(?:.*\.)?localhost$/.test(host))
    return loopback.some((address) => filter(address) === 'allowed') ? null : restriction
  // If only loopback is allowed, as in a demo, other names can't be reached.
  return allowCidrs.some((range) => !isLoopback(range)) ? null : restriction
}

const loopback = ['127.0.0.1', '::1']
const isLoopback = (range: string): boolean => /^(?:127\.|::1(?:\/128)?$)/.test(range)

/** Returns true if the remote address of an open connection is allowed. */
export function isAllowedTarget(address: string | undefined, target: Target, filter: AddressFilter): boolean {
  const decision = filter(address ?? '')
  return decision === 'allowed' || (decision === 'public' && target.restriction === null)
}

/**
 * Passes only checked addresses to the socket, so that the checked address is the one used. One forbidden address
 * refuses all, because any of them could be chosen.
 */
export function guardedLookup(resolve: Resolver, filter: AddressFilter, target: Target): LookupFunction {
  return (host, options, done) => {
    resolve(host).then(
      (addresses) => {
        if (addresses.length === 0) return done(new GuardError('dns'), [])
        if (!addresses.every((address) => isAllowedTarget(address, target, filter))) {
          return done(new GuardError('forbidden_address'), [])
        }
        const found = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
        const [first] = found
        if (options.all || first === undefined) done(null, found)
        else done(null, first.address, first.family)
      },
      () => done(new GuardError('dns'), []),
    )
  }
}

// Everything that is not global unicast. IPv4-mapped IPv6 is checked as IPv4; other forms that embed IPv4 (compatible,
// NAT64, 6to4, Teredo) are refused, because routers decide where they lead.
const nonPublicRanges: readonly [kind: string, ranges: readonly string[]][] = [
  ['loopback', ['127.0.0.0/8', '::1']],
  ['private', ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', 'fc00::/7', 'fec0::/10']],
  ['link-local', ['169.254.0.0/16', 'fe80::/10']],
  ['multicast', ['224.0.0.0/4', 'ff00::/8']],
  ['translated', ['::/96', '64:ff9b::/96', '64:ff9b:1::/48', '192.88.99.0/24', '2001::/32', '2002::/16']],
  [
    'reserved',
    [
      ...['0.0.0.0/8', '192.0.0.0/24', '192.0.2.0/24', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24'],
      ...['240.0.0.0/4', '100::/64', '2001::/23', '2001:db8::/32', '3fff::/20'],
      // Only 2000::/3 has been assigned.
      ...['::/3', '4000::/2', '8000::/1'],
    ],
  ],
]

/** `allowed` by the operator, `public`, or why it is refused. */
type AddressDecision = 'allowed' | 'public' | { refused: string }

export type AddressFilter = (address: string) => AddressDecision

/** Throws if an entry of the operator's list is not a range. */
export function createAddressFilter(allowCidrs: readonly string[]): AddressFilter {
  const isAllowed = addressSet(allowCidrs.map(readRange))
  const isRefused = addressSet(nonPublicRanges.flatMap(([, ranges]) => ranges))
  return (text) => {
    const address = normalAddress(text)
    if (address === null) return { refused: 'not an address' }
    if (isAllowed(address)) return 'allowed'
    return isRefused(address) ? { refused: kindOf(address) } : 'public'
  }
}

function kindOf(address: string): string {
  const found = nonPublicRanges.find(([, ranges]) => addressSet(ranges)(address))
  return found?.[0] ?? 'reserved'
}

function readRange(text: string): string {
  const range = normalRange(text)
  if (range === null)
    throw new Error('PARLEY_ALLOW_CIDRS must list addresses or CIDR ranges; mapped IPv4 ranges start at /96')
  return range
}

const publicOnly = createAddressFilter([])

/** Returns true if the URL is https and public, without resolving its name. */
export function isPublicUrl(url: string): boolean {
  const target = parseTarget(url)
  return !('refused' in target) && target.restriction === null && refusalOfLiteral(target, publicOnly) === null
}

/** Returns all addresses of a name, IPv4 first. Rejects or returns none if it has none. */
export type Resolver = (host: string) => Promise<string[]>

const cacheMs = 5_000
const maxCached = 2_000

/**
 * Resolves names by DNS instead of `getaddrinfo`, which blocks one of the process's few threads: slow name servers of
 * one receiver would delay all names. The hosts file takes precedence. Answers, including failures, are cached for 5 s.
 * `nameServers` default to the system's.
 */
export function systemResolver(nameServers?: readonly string[]): Resolver {
  const servers = new NameServers({ timeout: 1_000, tries: 2 })
  if (nameServers !== undefined) servers.setServers(nameServers)
  const readHosts = openHostsFile()
  const cache = new Map<string, { addresses: Promise<string[]>; until: number }>()
  return (host) => {
    const known = cache.get(host)
    if (known !== undefined && performance.now() < known.until) return known.addresses
    const addresses = readHosts().then((hosts) => hosts.get(host) ?? askServers(servers, host))
    addresses.catch(() => {})
    cache.delete(host)
    cache.set(host, { addresses, until: performance.now() + cacheMs })
    const [oldest] = cache.keys()
    if (cache.size > maxCached && oldest !== undefined) cache.delete(oldest)
    return addresses
  }
}

async function askServers(servers: NameServers, host: string): Promise<string[]> {
  // Most names have no IPv6 address, which rejects: one family is enough.
  const answers = await Promise.allSettled([servers.resolve4(host), servers.resolve6(host)])
  return answers
    .flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
    .filter((text) => isIP(text) > 0)
}

const path = process.platform === 'win32' ? 'C:\\Windows\\System32\\drivers\\etc\\hosts' : '/etc/hosts'
const maxBytes = 1024 * 1024

/** Reads the hosts file of this machine, and again when it changes. */
function openHostsFile(): () => Promise<Map<string, string[]>> {
  let hostsFile = { changedMs: 0, hosts: new Map<string, string[]>() }
  return async () => {
    try {
      const { mtimeMs, size } = await stat(path)
      if (size > maxBytes) return new Map()
      if (hostsFile.changedMs !== mtimeMs)
        hostsFile = { changedMs: mtimeMs, hosts: parseHosts(await readFile(path, 'utf8')) }
      return hostsFile.hosts
    } catch {
      return new Map()
    }
  }
}

function parseHosts(text: string): Map<string, string[]> {
  const hosts = new Map<string, string[]>()
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/)
    if (isIP(address) === 0) continue
    for (const name of names) {
      const host = name.toLowerCase()
      const known = hosts.get(host) ?? []
      if (!known.includes(address)) hosts.set(host, [...known, address])
    }
  }
  return hosts
}
