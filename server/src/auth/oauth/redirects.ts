import { isLoopback } from '../../base/outgoing/address.ts'

const maxLength = 2000

// What these open is not an app that a person chose: the browser itself, a file, a call or a mail.
const refusedSchemes = new Set(
  (
    'javascript data vbscript file filesystem blob about view-source chrome chrome-extension moz-extension ' +
    'resource ws wss ftp ftps ssh telnet ldap mailto tel sms facetime intent android-app ms-settings'
  ).split(' '),
)

/** Returns why a redirect URI cannot be registered, to follow its name, or null. */
export function redirectProblem(text: string): string | null {
  if (text.length > maxLength) return `must have at most ${maxLength} characters`
  if (!/^[\x21-\x7e]+$/.test(text) || !URL.canParse(text)) return 'must be an absolute URL'
  if (text.includes('#')) return 'must have no fragment'
  const { protocol, username, password } = new URL(text)
  if (username !== '' || password !== '') return 'must contain no user name or password'
  if (protocol === 'https:') return null
  if (protocol === 'http:') {
    return loopbackParts(text) === null ? 'must begin with https://, or be on localhost, 127.0.0.1 or [::1]' : null
  }
  return isAppScheme(protocol.slice(0, -1), text) ? null : 'must be https, loopback, or a private scheme of an app'
}

// A reverse domain (RFC 8252, section 7.1), or with a host as editors use them.
const isAppScheme = (scheme: string, text: string): boolean =>
  scheme.length <= 60 && !refusedSchemes.has(scheme) && (scheme.includes('.') || text.startsWith(`${scheme}://`))

/** Returns a loopback URI without its port; null for any other. Compares text, so that nothing is normalized away. */
function loopbackParts(text: string): string | null {
  const found = /^(http:\/\/(?:localhost|127\.0\.0\.1|\[::1\]))(?::\d{1,5})?((?:[/?].*)?)$/.exec(text)
  return found === null ? null : `${found[1]}${found[2]}`
}

/** Returns whether a URI is one of the registered ones: exactly, except that apps choose a free port of this machine. */
export function isRegistered(registered: readonly string[], asked: string): boolean {
  if (registered.includes(asked)) return true
  const local = loopbackParts(asked)
  return local !== null && registered.some((uri) => loopbackParts(uri) === local)
}

/** Returns what people recognize of a redirect URI: its host, or the scheme of an app. */
export function redirectHost(uri: string): string {
  const { protocol, host } = new URL(uri)
  return protocol === 'https:' || protocol === 'http:' ? host : protocol.slice(0, -1)
}

/** Returns whether the browser is sent to this machine, where any program can listen. */
export const isLocalRedirect = (uri: string): boolean => loopbackParts(uri) !== null

/** Returns the redirect with the parameters of the answer. */
export function answerUrl(redirectUri: string, answer: Record<string, string | null>): string {
  const given = Object.entries(answer).filter((pair): pair is [string, string] => pair[1] !== null)
  return `${redirectUri}${redirectUri.includes('?') ? '&' : '?'}${new URLSearchParams(given)}`
}

/** Returns whether OAuth is served: its tokens must not travel unencrypted, except on this machine. */
export function servesOAuth(publicUrl: string): boolean {
  const { protocol, hostname } = new URL(publicUrl)
  return protocol === 'https:' || isLoopback(hostname.replace(/^\[|\]$/g, ''))
}

/** Returns the resource that tokens are for. */
export const resourceOf = (publicUrl: string): string => `${publicUrl}/mcp`

/** Returns whether a resource indicator (RFC 8707) names this server; a client that names none means it too. */
export function isOwnResource(publicUrl: string, asked: string | undefined): boolean {
  if (asked === undefined) return true
  if (!URL.canParse(asked) || asked.includes('#')) return false
  const { href } = new URL(asked)
  const plain = href.replace(/\/$/, '')
  return [resourceOf(publicUrl), publicUrl].some((own) => new URL(own).href.replace(/\/$/, '') === plain)
}
