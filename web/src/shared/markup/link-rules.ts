/** Part of a text; a link if `href` is set. */
export interface TextSpan {
  text: string
  href?: string
}

// An e-mail address starts only at the start of a word: trying every letter would take quadratic time on long words.
// The same applies to closing punctuation.
const address = /https?:\/\/[^\s<>"'`]+|www\.[^\s<>"'`]+\.[^\s<>"'`]+|(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+/giu
const endMarks = /(?<![.,;:!?)\]}»”’*_~])[.,;:!?)\]}»”’*_~]+$/u

// Beyond the limits of browsers' address bars and of useful texts.
const maxHrefLength = 2048
const maxLinks = 500

/** Finds links in untrusted text: only web and e-mail addresses, never another scheme. */
export function parseLinks(text: string): TextSpan[] {
  const spans: TextSpan[] = []
  let end = 0
  let links = 0
  for (const match of text.matchAll(address)) {
    const found = trimmed(match[0])
    const href = hrefOf(found)
    if (href === null) continue
    if (++links > maxLinks) break
    if (match.index > end) spans.push({ text: text.slice(end, match.index) })
    spans.push({ text: found, href })
    end = match.index + found.length
  }
  if (end < text.length) spans.push({ text: text.slice(end) })
  return spans
}

// A bracket that is opened within the address belongs to it.
function trimmed(found: string): string {
  const marks = endMarks.exec(found)?.[0] ?? ''
  const body = found.slice(0, found.length - marks.length)
  return marks.startsWith(')') && body.includes('(') ? `${body})` : body
}

function hrefOf(found: string): string | null {
  if (found.length > maxHrefLength) return null
  if (!/^(https?:\/\/|www\.)/i.test(found)) return `mailto:${found}`
  return safeUrl(found.toLowerCase().startsWith('www.') ? `https://${found}` : found)
}

/** Returns the address if it is a web address; null otherwise. */
export function safeUrl(address: string | null): string | null {
  if (address === null || !URL.canParse(address)) return null
  const { protocol, href } = new URL(address)
  return protocol === 'https:' || protocol === 'http:' ? href : null
}
