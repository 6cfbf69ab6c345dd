import { domainToASCII, domainToUnicode } from 'node:url'

/**
 * Returns one key for all forms of an address: upper or lower case, any character width, internationalized domains in
 * Unicode or as `xn--…`, with or without surrounding spaces.
 */
export function emailKey(email: string): string {
  return withDomain(normalizeEmail(email), domainToASCII).toLowerCase()
}

/** Returns the keys under which an address may be stored: the current one, then those of former normalizations. */
export function emailKeys(email: string): string[] {
  const former = [email, normalizeEmail(email)].flatMap((one) => [one, withDomain(one, domainToUnicode)])
  return [...new Set([emailKey(email), ...former.map((one) => one.toLowerCase())])]
}

const normalizeEmail = (email: string): string => email.normalize('NFKC').trim()

/** Decodes every internationalized domain to Unicode, as it is read and searched. */
export function readableDomains(text: string): string {
  return text.includes('xn--') || text.includes('XN--')
    ? text.replace(encoded, (label) => domainToUnicode(label) || label)
    : text
}

const encoded = /\bxn--[a-z0-9-]{1,59}/gi

function withDomain(email: string, write: (domain: string) => string): string {
  const at = email.lastIndexOf('@') + 1
  // Empty if it is not a domain.
  return email.slice(0, at) + (write(email.slice(at)) || email.slice(at))
}
