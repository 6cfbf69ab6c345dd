/** A stretch of a message's text; with `href`, a link to follow. */
export interface TextSpan {
  text: string
  href?: string
}

// A mail address begins where such a word does: to try it from each of its letters would take a long one for ever. The
// same goes for the marks at an end.
const address = /https?:\/\/[^\s<>"'`]+|www\.[^\s<>"'`]+\.[^\s<>"'`]+|(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+/giu
const endMarks = /(?<![.,;:!?)\]}»”’*_~])[.,;:!?)\]}»”’*_~]+$/u

// No browser's address bar takes more, and nobody follows so many.
const maxHrefLength = 2048
const maxLinks = 500

/** Finds links in text that anybody may have written: web and mail addresses alone, never another scheme. */
export function parseLinks(text: string): TextSpan[] {
  const stretches: TextSpan[] = []
  let end = 0
  let links = 0
  for (const match of text.matchAll(address)) {
    const found = trimmed(match[0])
    const href = hrefOf(found)
    if (href === null) continue
    if (++links > maxLinks) break
    if (match.index > end) stretches.push({ text: text.slice(end, match.index) })
    stretches.push({ text: found, href })
    end = match.index + found.length
  }
  if (end < text.length) stretches.push({ text: text.slice(end) })
  return stretches
}

// A bracket that the address opens itself belongs to it.
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

/** The address if it leads to the web; null for anything else. */
export function safeUrl(address: string | null): string | null {
  if (address === null || !URL.canParse(address)) return null
  const { protocol, href } = new URL(address)
  return protocol === 'https:' || protocol === 'http:' ? href : null
}
