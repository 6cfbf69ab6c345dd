import { domainToASCII, domainToUnicode } from 'node:url'

/**
 * One key for all spellings of an address: letters of either case and width, a domain in its own script or as `xn--…`, with
 * or without blanks around it.
 */
export function emailKey(email: string): string {
  return withDomain(plain(email), domainToASCII).toLowerCase()
}

/** The keys under which an address may be stored: its own first, and those of before the scripts of a domain were one. */
export function emailKeys(email: string): string[] {
  const former = [email, plain(email)].flatMap((one) => [one, withDomain(one, domainToUnicode)])
  return [...new Set([emailKey(email), ...former.map((one) => one.toLowerCase())])]
}

const plain = (email: string): string => email.normalize('NFKC').trim()

/** With every part of a domain in its own script, as it is read and searched. */
export function readableDomains(text: string): string {
  return text.includes('xn--') || text.includes('XN--')
    ? text.replace(encoded, (label) => domainToUnicode(label) || label)
    : text
}

const encoded = /\bxn--[a-z0-9-]{1,59}/gi

function withDomain(email: string, write: (domain: string) => string): string {
  const at = email.lastIndexOf('@') + 1
  // Empty for what is no domain.
  return email.slice(0, at) + (write(email.slice(at)) || email.slice(at))
}
