/** Addresses that are not public: at least one of each range in the guard. */
export const innerAddresses = words(`
  127.0.0.1 127.255.255.254 0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.127.255.254 169.254.169.254
  172.16.0.1 172.31.255.255 192.0.0.8 192.0.2.1 192.88.99.1 192.168.1.1 198.18.0.1 198.19.255.255 198.51.100.7
  203.0.113.9 224.0.0.1 239.255.255.250 240.0.0.1 255.255.255.255`)

const parts = (address: string): number[] => address.split('.').map(Number)
const inParts = (address: string, write: (part: number) => string | number): string =>
  parts(address).map(write).join('.')
const numberOf = (address: string): number => parts(address).reduce((sum, part) => sum * 256 + part, 0)
const hexPair = (a = 0, b = 0): string => (a * 256 + b).toString(16)

function hexGroups(address: string): string {
  const [a, b, c, d] = parts(address)
  return `${hexPair(a, b)}:${hexPair(c, d)}`
}

const fullwidth = (text: string): string => text.replace(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit)))
const percent = (text: string): string =>
  [...text].map((letter) => `%${letter.charCodeAt(0).toString(16).padStart(2, '0')}`).join('')

/** Forms of an IPv4 address that URL parsers accept, and IPv6 addresses that embed it. */
export const spellings: [name: string, write: (address: string) => string][] = [
  ['dotted', (address) => address],
  ['with a trailing dot', (address) => `${address}.`],
  ['a decimal number', (address) => String(numberOf(address))],
  ['a hex number', (address) => `0x${numberOf(address).toString(16)}`],
  ['an octal number', (address) => `0${numberOf(address).toString(8)}`],
  ['octal parts', (address) => inParts(address, (part) => `0${part.toString(8)}`)],
  ['hex parts', (address) => inParts(address, (part) => `0x${part.toString(16)}`)],
  ['padded octal parts', (address) => inParts(address, (part) => `000${part.toString(8)}`)],
  ['two parts', (address) => `${parts(address)[0]}.${numberOf(address) % 2 ** 24}`],
  ['three parts', (address) => `${parts(address).slice(0, 2).join('.')}.${numberOf(address) % 2 ** 16}`],
  [
    'mixed parts',
    (address) => `0x${(parts(address)[0] ?? 0).toString(16)}.0${(numberOf(address) % 2 ** 24).toString(8)}`,
  ],
  ['fullwidth digits', fullwidth],
  ['ideographic dots', (address) => address.replaceAll('.', '。')],
  ['percent-encoded', percent],
  ['mapped', (address) => `[::ffff:${address}]`],
  ['mapped in hex', (address) => `[::FFFF:${hexGroups(address)}]`],
  ['mapped without compression', (address) => `[0:0:0:0:0:ffff:${hexGroups(address)}]`],
  ['compatible', (address) => `[::${address}]`],
  ['translated (SIIT)', (address) => `[::ffff:0:${address}]`],
  ['NAT64', (address) => `[64:ff9b::${address}]`],
  ['local NAT64', (address) => `[64:ff9b:1::${address}]`],
  ['6to4', (address) => `[2002:${hexGroups(address)}::1]`],
  ['Teredo', (address) => `[2001:0:${hexGroups(address)}::1]`],
  ['Teredo client', (address) => `[2001:0:4136:e378:8000:63bf:${hexGroups(inParts(address, (part) => 255 - part))}]`],
]

/** Hosts that are refused on every port. */
export const otherHosts = words(`
  [::] [::1] [0:0:0:0:0:0:0:1] [::0001] [fc00::1] [fd12:3456::1] [fe80::1] [febf::1] [fec0::1] [ff02::1] [ff05::2]
  [100::1] [2001:2::1] [2001:db8::1] [3fff::1] [4000::1] [5f00::1] [1::1] [fe80::1%25eth0] [fe80::1%eth0] [::1%25lo]
  [::1%lo] [::1%25] [::ffff:127.0.0.1%25lo] [::1 localhost LOCALHOST localhost. a.localhost a.localhost. ｌｏｃａｌｈｏｓｔ
  loc%61lhost ⓛⓞⓒⓐⓛⓗⓞⓢⓣ intranet printer.local metadata.google.internal metadata.google.internal. db db. 127.1
  127.0.1 0 0x7f.1 017700000001 2130706433 0x7f000001 0x7F.0x0.0x0.0x1 ①②⑦.⓪.⓪.① 127。1 127.0.0.1%00 127.0.0.1%20
  127.0.0.1%0d%0a 127.0.0.1\\ 256.256.256.256 1.2.3.4.5 127.0.0.1. 127.0.0.1.. .. .`)

/** Splits at spaces. */
export function words(text: string): string[] {
  return text.trim().split(/\s+/)
}
