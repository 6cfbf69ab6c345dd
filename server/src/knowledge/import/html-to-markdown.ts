/** What a page says. */
export interface PageText {
  title: string
  /** From the page; null if it does not say. */
  language: string | null
  body: string
}

/** Elements whose content is not text. */
const rawElements = new Set(['script', 'style', 'template', 'noscript', 'svg', 'iframe', 'textarea', 'head', 'math'])
/** Elements around the text of a page. */
const outsideElements = new Set(['nav', 'header', 'footer', 'aside', 'form', 'dialog', 'button', 'select'])
const blockElements = new Set([
  ...['p', 'div', 'section', 'article', 'main', 'table', 'tr', 'ul', 'ol', 'dl', 'dt', 'dd', 'blockquote', 'figure'],
  ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'hr', 'details', 'summary', 'pre'],
])
const marks: Readonly<Record<string, string>> = { strong: '**', b: '**', em: '_', i: '_', code: '`' }

/** Converts the main part of a page to Markdown, in linear time. Malformed HTML gives what can be read of it. */
export function htmlToMarkdown(html: string, address: string): PageText {
  const lower = asciiLower(html)
  const titleText = textBetween(html, lower, 'title')
  const heading = textBetween(html, lower, 'h1')
  const [from, to] = mainPart(lower)
  const writer = createWriter(address)
  for (const token of readTokens(html.slice(from, to))) {
    if (typeof token === 'string') writer.text(token)
    else writer.tag(token)
  }
  const language = /<html[^>]{0,500}\slang=["']?([a-z]{2,3})\b/.exec(lower.slice(0, 5000))?.[1] ?? null
  return { title: heading || titleText, language, body: writer.end(heading) }
}

/** Same length as the text, unlike `toLowerCase`. */
const asciiLower = (text: string): string => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())

function textBetween(html: string, lower: string, name: string): string {
  const start = lower.indexOf(`<${name}`)
  const open = start === -1 ? -1 : lower.indexOf('>', start)
  const end = open === -1 ? -1 : lower.indexOf(`</${name}`, open)
  if (end === -1 || end - open > 5000) return ''
  const words = [...readTokens(html.slice(open + 1, end))].map((token) => (typeof token === 'string' ? token : ' '))
  return decodeEntities(words.join('')).replaceAll(/\s+/g, ' ').trim()
}

/** Returns where the text of a page is: its main element, else its only article, else its body. */
function mainPart(lower: string): [from: number, to: number] {
  const partOf = (name: string): [number, number] | null => {
    const from = lower.indexOf(`<${name}`)
    if (from === -1) return null
    const to = lower.indexOf(`</${name}`, from)
    return [from, to === -1 ? lower.length : to]
  }
  const hasOneArticle = lower.indexOf('<article') === lower.lastIndexOf('<article')
  return partOf('main') ?? (hasOneArticle ? partOf('article') : null) ?? partOf('body') ?? [0, lower.length]
}

interface Tag {
  name: string
  isEnd: boolean
  href: string | null
}

/** Reads texts and tags; skips comments and the content of elements that are not text. */
function* readTokens(html: string): Generator<string | Tag> {
  const lower = asciiLower(html)
  let at = 0
  while (at < html.length) {
    const open = html.indexOf('<', at)
    if (open === -1) {
      yield html.slice(at)
      return
    }
    if (open > at) yield html.slice(at, open)
    if (lower.startsWith('<!--', open)) {
      const end = html.indexOf('-->', open)
      if (end === -1) return
      at = end + 3
      continue
    }
    const name = /^[a-z][a-z0-9]{0,20}/.exec(lower.slice(open + 1 + Number(html[open + 1] === '/'), open + 24))?.[0]
    if (name === undefined && html[open + 1] !== '!' && html[open + 1] !== '/') {
      yield '<'
      at = open + 1
      continue
    }
    const end = endOfTag(html, open + 1)
    if (end === -1) return
    at = end + 1
    if (name === undefined) continue
    const isEnd = html[open + 1] === '/'
    if (!isEnd && rawElements.has(name) && html[end - 1] !== '/') {
      const close = lower.indexOf(`</${name}`, at)
      if (close === -1) return
      at = close
      continue
    }
    yield { name, isEnd, href: name === 'a' && !isEnd ? hrefOf(html.slice(open, Math.min(end, open + 3000))) : null }
  }
}

/** Returns the end of a tag: a `>` outside of quotes. */
function endOfTag(html: string, from: number): number {
  let quote = ''
  for (let at = from; at < html.length; at++) {
    const letter = html[at] ?? ''
    if (quote !== '') {
      if (letter === quote) quote = ''
    } else if (letter === '"' || letter === "'") quote = letter
    else if (letter === '>') return at
  }
  return -1
}

const hrefOf = (tag: string): string | null => {
  const [, double, single] = /\shref\s{0,5}=\s{0,5}(?:"([^"]{0,2000})"|'([^']{0,2000})')/i.exec(tag) ?? []
  return double ?? single ?? null
}

interface Writer {
  text(text: string): void
  tag(tag: Tag): void
  /** Returns the Markdown, without the heading that is the title. */
  end(title: string): string
}

function createWriter(address: string): Writer {
  const parts: string[] = []
  const lists: { isOrdered: boolean; count: number }[] = []
  const links: (string | null)[] = []
  let [outside, pre] = [0, 0]
  const write = (text: string) => {
    if (outside === 0) parts.push(text)
  }
  const openTag = ({ name, href }: Tag) => {
    if (outsideElements.has(name)) outside++
    else if (name === 'br') write('\n')
    else if (/^h[1-6]$/.test(name)) write(`\n\n${'#'.repeat(Number(name[1]))} `)
    else if (name === 'ul' || name === 'ol') {
      lists.push({ isOrdered: name === 'ol', count: 0 })
      write('\n')
    } else if (name === 'li') {
      const list = lists.at(-1)
      if (list !== undefined) list.count++
      const bullet = list?.isOrdered ? `${list.count}.` : '-'
      write(`\n${'  '.repeat(Math.min(Math.max(lists.length - 1, 0), 5))}${bullet} `)
    } else if (name === 'pre') {
      pre++
      write('\n\n```\n')
    } else if (name === 'td' || name === 'th') write(' | ')
    else if (name === 'a') {
      const target = href === null ? null : absolute(href, address)
      links.push(target)
      if (target !== null) write('[')
    } else if (blockElements.has(name)) write('\n\n')
    else if (pre === 0 && marks[name] !== undefined) write(marks[name] ?? '')
  }
  const closeTag = ({ name }: Tag) => {
    if (outsideElements.has(name)) outside = Math.max(0, outside - 1)
    else if (name === 'ul' || name === 'ol') {
      lists.pop()
      write('\n')
    } else if (name === 'pre') {
      pre = Math.max(0, pre - 1)
      write('\n```\n\n')
    } else if (name === 'a') {
      const target = links.pop()
      if (typeof target === 'string') write(`](${target})`)
    } else if (blockElements.has(name)) write('\n\n')
    else if (pre === 0 && marks[name] !== undefined) write(marks[name] ?? '')
  }
  return {
    text: (text) => {
      const decoded = decodeEntities(text)
      write(pre > 0 ? decoded : decoded.replaceAll(/\s+/g, ' '))
    },
    tag: (tag) => (tag.isEnd ? closeTag(tag) : openTag(tag)),
    end: (title) => tidy(parts.join(''), title),
  }
}

function absolute(href: string, address: string): string | null {
  const target = URL.parse(decodeEntities(href), address)
  if (target === null || (target.protocol !== 'https:' && target.protocol !== 'http:')) return null
  return target.href.replaceAll('(', '%28').replaceAll(')', '%29')
}

function tidy(markdown: string, title: string): string {
  const lines = markdown
    .split('\n')
    .map((line) => line.trimEnd().replace(/^ (?! )/, ''))
    .filter((line) => title === '' || line !== `# ${title}`)
    .filter((line) => !/^(?:#{1,6}|-|\*\*\*\*|__)?$/.test(line) || line === '')
  return lines
    .join('\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim()
}

const named: Readonly<Record<string, string>> = {
  ...{ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ', ndash: '–', mdash: '—', hellip: '…' },
  ...{ lsquo: '‘', rsquo: '’', ldquo: '“', rdquo: '”', laquo: '«', raquo: '»', bull: '•', middot: '·' },
  ...{ copy: '©', reg: '®', trade: '™', euro: '€', pound: '£', deg: '°', ordm: 'º', ordf: 'ª' },
  ...{ iexcl: '¡', iquest: '¿', szlig: 'ß', aelig: 'æ', oslash: 'ø', times: '×' },
}
const accents: Readonly<Record<string, string>> = {
  ...{ acute: '\u0301', grave: '\u0300', circ: '\u0302', tilde: '\u0303' },
  ...{ uml: '\u0308', cedil: '\u0327', ring: '\u030a' },
}

export function decodeEntities(text: string): string {
  if (!text.includes('&')) return text
  return text.replaceAll(/&(#\d{1,7}|#x[\da-f]{1,6}|[a-z]{2,8});/gi, (entity, name: string) => {
    if (name.startsWith('#')) {
      const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1))
      return code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : ''
    }
    const known = Object.hasOwn(named, name) ? named[name] : undefined
    if (known !== undefined) return known
    const accent = name.slice(1)
    return Object.hasOwn(accents, accent) ? `${name[0]}${accents[accent]}`.normalize('NFC') : entity
  })
}
