import { isIP } from 'node:net'

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
