import { BlockList, isIP } from 'node:net'

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

/**
 * The platform's address without a trailing slash, or null for one that must not be called: anything but https to a
 * host with a name. With `allowLoopback` the own machine is taken too, over http as well.
 */
export function readBaseUrl(text: string, allowLoopback: boolean): string | null {
  if (!URL.canParse(text)) return null
  const url = new URL(text)
  const hasMore = url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== ''
  if (hasMore || url.pathname.includes('//')) return null
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const isOwn = isLoopback(host)
  const isPublicName = isIP(host) === 0 && host.includes('.') && !/\.(localhost|local|internal)\.?$/.test(host)
  const isAllowed = isOwn
    ? allowLoopback && (url.protocol === 'https:' || url.protocol === 'http:')
    : isPublicName && url.protocol === 'https:'
  return isAllowed ? url.href.replace(/\/+$/, '') : null
}

function isLoopback(host: string): boolean {
  const family = isIP(host)
  if (family === 0) return host === 'localhost'
  return loopback.check(host, family === 4 ? 'ipv4' : 'ipv6')
}
