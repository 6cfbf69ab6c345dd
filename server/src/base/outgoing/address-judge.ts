import { addressSet, normalAddress, normalRange } from './address.ts'

// Whatever is not global unicast. IPv4 within IPv6 (mapped) is read as IPv4 first; the other forms that carry an IPv4
// address (compatible, NAT64, 6to4, Teredo) are refused whole, since what they lead to is for a router to say.
const kinds: readonly [kind: string, ranges: readonly string[]][] = [
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
      // Nothing but 2000::/3 has been given out.
      ...['::/3', '4000::/2', '8000::/1'],
    ],
  ],
]

/** `allowed` by the operator, `public`, or why it is neither. */
export type Judgement = 'allowed' | 'public' | { refused: string }

export type AddressJudge = (address: string) => Judgement

/** Throws when the operator's list holds what is no range. */
export function createAddressJudge(allowCidrs: readonly string[]): AddressJudge {
  const isAllowed = addressSet(allowCidrs.map(readRange))
  const isRefused = addressSet(kinds.flatMap(([, ranges]) => ranges))
  return (text) => {
    const address = normalAddress(text)
    if (address === null) return { refused: 'not an address' }
    if (isAllowed(address)) return 'allowed'
    return isRefused(address) ? { refused: kindOf(address) } : 'public'
  }
}

function kindOf(address: string): string {
  const found = kinds.find(([, ranges]) => addressSet(ranges)(address))
  return found?.[0] ?? 'reserved'
}

function readRange(text: string): string {
  const range = normalRange(text)
  if (range === null)
    throw new Error('PARLEY_ALLOW_CIDRS must list addresses or CIDR ranges. A range of mapped IPv4 begins at /96.')
  return range
}
