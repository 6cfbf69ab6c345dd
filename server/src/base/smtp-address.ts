import { isLoopback } from './outgoing/address.ts'

/** The mail server that takes our mail, and how we reach it. */
export interface SmtpAddress {
  host: string
  port: number
  /** `tls`: from the first byte. `starttls`: required before anything else is sent. `off`: plain text. */
  security: 'tls' | 'starttls' | 'off'
  credentials: { user: string; password: string } | null
}

/** Settings of outgoing mail. */
export interface MailSettings {
  smtp: SmtpAddress
  from: { name: string; address: string }
}

/** Reads settings; `problem` reports one and returns null. */
interface Reader {
  text(name: string): string | null
  problem(line: string): null
}

const maxLength = 2048
const urlForms = 'must be smtp://user:password@host:587 or smtps://user:password@host:465'

/** Reads `PARLEY_SMTP_URL` and `PARLEY_MAIL_FROM`, by default the simulated server's; null: no mail is sent. */
export function readMailSettings(read: Reader, simulatedPort: number | null): MailSettings | null {
  const url = read.text('PARLEY_SMTP_URL')
  const sender = read.text('PARLEY_MAIL_FROM')
  if (url === null && sender === null) return simulatedPort === null ? null : simulatedMail(simulatedPort)
  if (url === null) return read.problem('PARLEY_MAIL_FROM requires PARLEY_SMTP_URL, the address of the mail server')
  if (sender === null) return read.problem('PARLEY_SMTP_URL requires PARLEY_MAIL_FROM, the sender of the mails')
  const smtp = parseSmtpUrl(url)
  const from = parseSender(sender)
  if (typeof smtp === 'string') read.problem(`PARLEY_SMTP_URL ${smtp}`)
  if (from === null) read.problem('PARLEY_MAIL_FROM must be an address, such as Parley <parley@example.com>')
  return typeof smtp === 'string' || from === null ? null : { smtp, from }
}

const simulatedMail = (port: number): MailSettings => ({
  smtp: { host: '127.0.0.1', port, security: 'off', credentials: null },
  from: { name: 'Parley', address: 'parley@localhost' },
})

/** Parses the URL. Returns a text that follows the name of the setting, and repeats no value, if it is invalid. */
export function parseSmtpUrl(text: string): SmtpAddress | string {
  const url = text.length <= maxLength && URL.canParse(text) ? new URL(text) : null
  const isSecure = url?.protocol === 'smtps:'
  if (url === null || !(isSecure || url.protocol === 'smtp:') || url.hostname === '') return urlForms
  if ((url.pathname !== '' && url.pathname !== '/') || url.hash !== '') return `${urlForms}, without a path`
  if ((url.username === '') !== (url.password === '')) return 'must contain both a user and a password, or neither'
  const [user, password] = [decode(url.username), decode(url.password)]
  if (user === null || password === null) return 'must percent-encode special characters of its user and password'
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const tls = url.searchParams.get('tls')
  if ([...url.searchParams.keys()].some((name) => name !== 'tls')) return 'can have only the parameter tls'
  if (tls !== null && tls !== 'off' && tls !== 'required') return 'must have tls=required or tls=off'
  if (isSecure && tls === 'off') return 'must begin with smtp:// to have tls=off'
  // On the machine itself nobody listens, and its mail server seldom has a certificate for this name.
  const isPlain = tls === null ? isLoopback(host.toLowerCase()) : tls === 'off'
  return {
    host,
    port: url.port === '' ? (isSecure ? 465 : 587) : Number(url.port),
    security: isSecure ? 'tls' : isPlain ? 'off' : 'starttls',
    credentials: user === '' ? null : { user, password },
  }
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}

/** Parses `parley@example.com` and `Parley <parley@example.com>`; null if it is neither. */
export function parseSender(text: string): MailSettings['from'] | null {
  const open = text.indexOf('<')
  const name = open === -1 ? '' : text.slice(0, open).trim().replace(/^"|"$/g, '')
  const address = open === -1 ? text : text.endsWith('>') ? text.slice(open + 1, -1).trim() : ''
  const isValid = address.length <= 254 && /^[^\s@<>,;"]+@[^\s@<>,;"]+$/.test(address)
  return isValid && name.length <= 100 && !/[\p{Cc}<>]/u.test(name) ? { name, address } : null
}
