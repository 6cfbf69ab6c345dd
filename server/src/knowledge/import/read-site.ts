import { unprocessable } from '../../base/errors.ts'
import type { Outgoing } from '../../base/outgoing/guarded-fetch.ts'
import { version } from '../../base/version.ts'
import { limits } from '../article.ts'
import type { ImportedArticle } from '../write-article.ts'
import { decodeEntities, htmlToMarkdown } from './html-to-markdown.ts'
import { checkArticle, type ImportDefaults, type ImportProblem } from './parse-files.ts'

/** Pages of a site that an import reads at most, and of nested site maps. */
export const maxPages = 500
const maxSiteMaps = 20
const maxSiteMapBytes = 2 * 1024 * 1024
const maxPageBytes = 1024 * 1024
const timeoutMs = 8_000
const maxRedirects = 3

/**
 * Returns the addresses of the pages in a site map and in those that it lists, all of the same host. Throws 422 if it
 * cannot be read.
 */
export async function readSiteMap(
  outgoing: Outgoing,
  address: string,
): Promise<{ addresses: string[]; isCut: boolean }> {
  const { hostname } = new URL(address)
  const isOfSite = (one: string) => one.length <= limits.address && URL.parse(one)?.hostname === hostname
  const queue = [address]
  const addresses = new Set<string>()
  for (let n = 0; n < Math.min(queue.length, maxSiteMaps); n++) {
    const read = await fetchText(outgoing, queue[n] ?? '', maxSiteMapBytes)
    if ('problem' in read) {
      // A nested one that cannot be read does not stop the others.
      if (n === 0)
        throw unprocessable(`The site map cannot be read: it ${read.problem}`, { code: 'SITE_MAP_UNREADABLE' })
      continue
    }
    const found = [...read.text.matchAll(/<loc>([^<]{1,2000})<\/loc>/gi)].map(([, loc = '']) =>
      decodeEntities(loc).trim(),
    )
    if (found.length === 0 && n === 0) {
      throw unprocessable('The site map lists no pages: it must be an XML file with <loc> elements', {
        code: 'SITE_MAP_UNREADABLE',
      })
    }
    const isIndex = /<sitemapindex[\s>]/i.test(read.text.slice(0, 5000))
    for (const one of found.filter(isOfSite)) {
      if (isIndex) queue.push(one)
      else addresses.add(one)
    }
  }
  return { addresses: [...addresses].slice(0, maxPages), isCut: addresses.size > maxPages }
}

/** Reads a page as an article; returns the problem if it is none. */
export async function readPage(
  outgoing: Outgoing,
  address: string,
  defaults: ImportDefaults,
): Promise<ImportedArticle | ImportProblem> {
  const read = await fetchText(outgoing, address, maxPageBytes)
  if ('problem' in read) return { address, problem: read.problem }
  if (!read.isHtml) return { address, problem: 'is not a web page' }
  const { title, language, body } = htmlToMarkdown(read.text, address)
  const values = { title: title.slice(0, limits.title).toWellFormed(), body, ...(language !== null && { language }) }
  const fields = checkArticle(values, defaults)
  return typeof fields === 'string' ? { address, problem: fields } : { address, fields }
}

type Fetched = { text: string; isHtml: boolean } | { problem: string }

/** Reads an address, following redirects on its host. */
async function fetchText(outgoing: Outgoing, address: string, maxAnswerBytes: number): Promise<Fetched> {
  const { hostname } = new URL(address)
  let url = address
  for (let redirects = 0; redirects <= maxRedirects; redirects++) {
    const refusal = outgoing.refusal(url)
    if (refusal !== null) return { problem: refusal }
    const headers = { 'user-agent': `Parley/${version}`, accept: 'text/html, application/xml;q=0.9, */*;q=0.5' }
    const request = { method: 'GET', url, headers, body: null, timeoutMs, maxAnswerBytes, canRepeat: true } as const
    const answer = await outgoing.call(request)
    if (answer.outcome === 'failed') return { problem: `could not be read (${answer.code})` }
    const { location, 'content-type': type = '' } = answer.headers
    if (answer.status >= 300 && answer.status < 400 && location !== undefined) {
      const next = URL.parse(location, url)
      if (next?.hostname !== hostname) return { problem: 'leads to another site' }
      url = next.href
      continue
    }
    if (answer.status !== 200) return { problem: `was answered with status ${answer.status}` }
    if (!answer.isWhole) return { problem: `is larger than ${maxAnswerBytes / 1024} KiB` }
    return { text: decodeBytes(answer.body, type), isHtml: /^(?:text\/html|application\/xhtml\+xml)\b/i.test(type) }
  }
  return { problem: 'has too many redirects' }
}

function decodeBytes(body: Buffer, contentType: string): string {
  const label = /charset=["']?([\w-]{1,40})/i.exec(contentType)?.[1] ?? 'utf-8'
  try {
    return new TextDecoder(label).decode(body).replaceAll('\0', '')
  } catch {
    return body.toString('utf8').replaceAll('\0', '')
  }
}
