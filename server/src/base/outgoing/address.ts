import { BlockList, isIP, SocketAddress } from 'node:net'

/**
 * Returns the canonical form of an address: shortened, lower-case IPv6, IPv4 for IPv4-mapped IPv6, without a zone. Null
 * if the text is not an address.
 */
export function normalAddress(text: string): string | null {
  const family = isIP(text)
  if (family === 4) return text
  if (family === 0) return null
  const address = new SocketAddress({ address: text, family: 'ipv6' }).address
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice('::ffff:'.length) : address
}

/** Returns the canonical form of an address or CIDR range; null if it is neither. */
export function normalRange(text: string): string | null {
  const [address = '', prefix, ...more] = text.split('/')
  const normal = normalAddress(address)
  if (normal === null || more.length > 0 || address.includes('%')) return null
  if (prefix === undefined) return normal
  if (!/^\d{1,3}$/.test(prefix)) return null
  const mapped = isIP(address) === 6 && isIP(normal) === 4
  // A mapped range shorter than /96 would include more than IPv4, which is never intended.
  const bits = Number(prefix) - (mapped ? 96 : 0)
  return bits >= 0 && bits <= (isIP(normal) === 4 ? 32 : 128) ? `${normal}/${bits}` : null
}

export type AddressSet = (address: string) => boolean

/** Returns a test whether a canonical address is in a list of canonical ranges. */
export function addressSet(ranges: readonly string[]): AddressSet {
  // Two lists, because a single one treats IPv4 as mapped and so finds it in `::/0`.
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() }
  for (const range of ranges) {
    const [address = '', prefix] = range.split('/')
    const family = familyOf(address)
    if (prefix === undefined) lists[family].addAddress(address, family)
    else lists[family].addSubnet(address, Number(prefix), family)
  }
  return (address) => lists[familyOf(address)].check(address, familyOf(address))
}

const isLoopbackAddress = addressSet(['127.0.0.0/8', '::1'])

/** Returns true if the host is this machine's loopback interface. */
export function isLoopback(host: string): boolean {
  const address = normalAddress(host.replace(/^\[(.*)\]$/, '$1'))
  return address === null ? host === 'localhost' : isLoopbackAddress(address)
}

/**
 * Returns the key for a limit per client: an IPv4 address, or the /64 network of an IPv6 address, within which a client
 * can change its address freely. A site has a /48 network. All clients without a known address share one limit.
 */
export function addressGroup(address: string | null, bits: 48 | 64 = 64): string {
  if (address === null) return 'unknown'
  if (isIP(address) !== 6) return address
  const [head = '', tail = ''] = address.split('::')
  const front = head === '' ? [] : head.split(':')
  const back = tail === '' ? [] : tail.split(':')
  const groups = address.includes('::')
    ? [...front, ...Array(8 - front.length - back.length).fill('0'), ...back]
    : front
  return `${groups.slice(0, bits / 16).join(':')}::/${bits}`
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4'
}

/** Returns the URL by which local processes reach a server that listens on this host. */
export function localUrl(host: string, port: number): string {
  if (host === '0.0.0.0') return `http://127.0.0.1:${port}`
  if (host === '::') return `http://[::1]:${port}`
  return isIP(host) === 6 ? `http://[${host}]:${port}` : `http://${host}:${port}`
}
