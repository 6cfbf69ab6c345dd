import type { IncomingMessage } from 'node:http'
import { type AddressSet, addressSet, normalAddress, normalRange } from '../../base/outgoing/address.ts'

/** The address of a request's client in its normal spelling, or null when it cannot be told. */
export type ClientAddress = (request: IncomingMessage) => string | null

/**
 * Reads addresses behind the operator's proxies, listed as addresses or CIDR; none listed: the socket decides.
 * `onUntrusted` is called once, when a forwarded address first comes from who is not listed: either somebody makes it up,
 * or a proxy is not listed and all its clients count as one.
 */
export function clientAddressReader(
  trustedProxies: readonly string[],
  onUntrusted: () => void = () => {},
): ClientAddress {
  const isTrusted = addressSet(trustedProxies.map((range) => normalRange(range)).filter((range) => range !== null))
  let isTold = false
  return (request) => {
    const { remoteAddress } = request.socket
    const forwardedFor = request.headers['x-forwarded-for']
    if (!isTold && forwardedFor !== undefined && !isTrusted(normalAddress(remoteAddress ?? '') ?? '::')) {
      isTold = true
      onUntrusted()
    }
    return clientAddress(remoteAddress, forwardedFor, isTrusted)
  }
}

/**
 * Walks `X-Forwarded-For` from the right, since each proxy appends what it saw: everything left of the first
 * address that is not ours was written by the caller. A hop of our own proxies that is no address gives null, which
 * no allowlist contains.
 */
export function clientAddress(
  socketAddress: string | undefined,
  forwardedFor: string | string[] | undefined,
  isTrusted: AddressSet,
): string | null {
  let client = normalAddress(socketAddress ?? '')
  if (client === null || forwardedFor === undefined || !isTrusted(client)) return client
  const hops = [forwardedFor].flat().join(',').split(',')
  for (const hop of hops.reverse()) {
    client = normalAddress(withoutPort(hop.trim()))
    if (client === null || !isTrusted(client)) return client
  }
  return client
}

// Some proxies write `203.0.113.7:52011` or `[2001:db8::1]:52011`.
function withoutPort(hop: string): string {
  const bracketed = /^\[([^\]]+)\](?::\d{1,5})?$/.exec(hop)
  if (bracketed !== null) return bracketed[1] ?? ''
  return /^\d+\.\d+\.\d+\.\d+:\d{1,5}$/.test(hop) ? hop.slice(0, hop.lastIndexOf(':')) : hop
}
