import { isIP, type LookupFunction } from 'node:net'
import { type AddressJudge, createAddressJudge } from './address-judge.ts'
import type { Resolver } from './resolver.ts'

/** Where a call goes, as its URL says. */
export interface Target {
  isHttps: boolean
  /** A name without its last dot, or an address without brackets. */
  host: string
  isLiteral: boolean
  port: number
  path: string
  /** Why only addresses that the operator allows may be behind it; null when public ones may be, too. */
  onlyAllowed: string | null
}

const maxUrlLength = 2048
const byOperator = 'only to addresses that an operator allows with PARLEY_ALLOW_CIDRS'

/** Reads a URL that somebody gave, or says why it cannot be used, as a text that follows the name of its field. */
export function readTarget(text: string): Target | { refused: string } {
  if (text.length > maxUrlLength) return { refused: `is longer than ${maxUrlLength} characters` }
  if (!URL.canParse(text)) return { refused: 'is no address: it must look like https://example.com/path' }
  const url = new URL(text)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return { refused: 'must begin with https://' }
  if (url.username !== '' || url.password !== '') return { refused: 'must not hold a user name or password' }
  if (url.href.includes('#')) return { refused: 'must not have a fragment: leave out what begins with #' }
  // The parser has brought every spelling of an IPv4 address (octal, hex, short, fullwidth) to its four numbers.
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
  const isLiteral = isIP(host) !== 0
  if (!isLiteral && host.split('.').includes('')) return { refused: 'has an empty part in its host name' }
  const isHttps = url.protocol === 'https:'
  const port = url.port === '' ? (isHttps ? 443 : 80) : Number(url.port)
  const path = url.pathname + url.search
  return { isHttps, host, isLiteral, port, path, onlyAllowed: needOf(isHttps, port, isLiteral ? null : host) }
}

function needOf(isHttps: boolean, port: number, name: string | null): string | null {
  if (!isHttps) return `must begin with https://, since http goes ${byOperator}`
  if (port !== 443 && port < 1024) return `uses port ${port}: other ports than 443 and those from 1024 go ${byOperator}`
  const isInner = name !== null && (!name.includes('.') || /\.(?:local|internal|localhost)$/.test(name))
  return isInner ? `names the host ${name}, which is no public name: such names go ${byOperator}` : null
}

/** A refusal of the guard, on the way through the network stack. */
export class GuardError extends Error {
  readonly code: 'forbidden_address' | 'dns' | 'timeout' | 'withheld'

  constructor(code: GuardError['code']) {
    super(code)
    this.code = code
  }
}

/** Why an address that stands in the URL itself cannot be used; null when it may be, and for names. */
export function refusalOfLiteral({ host, isLiteral, onlyAllowed }: Target, judge: AddressJudge): string | null {
  if (!isLiteral) return null
  const judgement = judge(host)
  if (judgement === 'allowed') return null
  if (judgement === 'public') return onlyAllowed
  return `names the address ${host}, which is ${judgement.refused}; an operator may allow it with PARLEY_ALLOW_CIDRS`
}

const publicOnly = createAddressJudge([])

/** Whether an address is one of the internet, by https, as far as it shows without asking for what its name leads to. */
export function isPublicUrl(url: string): boolean {
  const target = readTarget(url)
  return !('refused' in target) && target.onlyAllowed === null && refusalOfLiteral(target, publicOnly) === null
}

/** Why a name cannot be used, as far as it shows without asking for its addresses: those are judged at each call. */
export function refusalOfName(target: Target, judge: AddressJudge, allowCidrs: readonly string[]): string | null {
  const { host, isLiteral, onlyAllowed } = target
  if (isLiteral || onlyAllowed === null) return null
  if (/^(?:.*\.)?localhost$/.test(host))
    return loopback.some((address) => judge(address) === 'allowed') ? null : onlyAllowed
  // Where this machine alone is allowed, as in a demo, no other name leads anywhere.
  return allowCidrs.some((range) => !isLoopback(range)) ? null : onlyAllowed
}

const loopback = ['127.0.0.1', '::1']
const isLoopback = (range: string): boolean => /^(?:127\.|::1(?:\/128)?$)/.test(range)

/** Whether a connection that is open leads where the guard wants it. */
export function mayTalkTo(address: string | undefined, target: Target, judge: AddressJudge): boolean {
  const judgement = judge(address ?? '')
  return judgement === 'allowed' || (judgement === 'public' && target.onlyAllowed === null)
}

/**
 * Gives the socket nothing but checked addresses, so that what was checked is what is connected to. One bad address among
 * many refuses them all: which one is taken would be for chance to say.
 */
export function guardedLookup(resolve: Resolver, judge: AddressJudge, target: Target): LookupFunction {
  return (host, options, done) => {
    resolve(host).then(
      (addresses) => {
        if (addresses.length === 0) return done(new GuardError('dns'), [])
        if (!addresses.every((address) => mayTalkTo(address, target, judge))) {
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
