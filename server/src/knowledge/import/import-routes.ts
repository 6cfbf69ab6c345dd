import { type Static, Type } from 'typebox'
import { invalid, unprocessable } from '../../base/errors.ts'
import type { Outgoing } from '../../base/outgoing/guarded-fetch.ts'
import { nullable, oneOf, titled } from '../../base/route.ts'
import { text, visiblePattern } from '../../base/schema-types.ts'
import { version } from '../../base/version.ts'
import type { Member } from '../../team/member.ts'
import type { TeamApi } from '../../team/team-api.ts'
import { closed, idSchema } from '../../team/team-schema.ts'
import { limits } from '../article.ts'
import { knowledgePath, language } from '../schema.ts'
import type { ImportedArticle, ImportOptions, KnowledgeDeps } from '../write-article.ts'
import { authorOf, importArticles } from '../write-article.ts'
import { decodeEntities, htmlToMarkdown } from './html-to-markdown.ts'
import { checkArticle, type ImportDefaults, type ImportProblem, maxRows, parseFiles } from './parse-files.ts'

export interface ImportDeps extends KnowledgeDeps {
  outgoing: Outgoing
}

const maxFiles = 200
const maxFileLength = 2 * 1024 * 1024
const maxBodyBytes = 4 * 1024 * 1024
/** Pages that one request reads, all at once. */
const maxPagesAtOnce = 5

const address = Type.String({
  minLength: 1,
  maxLength: limits.address,
  pattern: '^https?://',
  description: 'A web address.',
  example: 'https://shop.example/sitemap.xml',
})
const options = {
  language,
  publish: Type.Optional(
    Type.Boolean({ default: false, description: 'Publishes new articles at once. Only admins.', example: false }),
  ),
  dryRun: Type.Optional(Type.Boolean({ default: false, description: 'Says what would change, and changes nothing.' })),
}

const ImportReport = titled('KnowledgeImportReport', {
  results: Type.Array(
    titled('KnowledgeImportResult', {
      address: text(limits.address + limits.title + 1, 'The file, row or page.'),
      action: oneOf(['created', 'updated', 'unchanged', 'refused', 'failed'] as const, {
        description:
          'What was done, or would be with `dryRun`. `refused`: it is published, and you only write drafts. `failed`: see `problem`.',
      }),
      articleId: nullable(idSchema('The article; null: there is none.')),
      title: nullable(text(limits.title, 'Its title.')),
      problem: nullable(text(1000, 'Why it is no article.')),
    }),
    { maxItems: maxRows + maxFiles },
  ),
})

/** Routes that import articles from files and from the pages of a site. */
export function importRoutes(api: TeamApi, deps: ImportDeps): void {
  fileRoute(api, deps)
  siteRoutes(api, deps)
}

function fileRoute(api: TeamApi, deps: ImportDeps): void {
  api.post(`${knowledgePath}/import-files`, 'member', {
    operationId: 'importArticleFiles',
    summary: 'Import Markdown and CSV files',
    description:
      'Each Markdown file is an article; its front matter can name title, language, tags, kind, valid_from and valid_until. Each row of a CSV file is one, with columns title and body, and optionally address and those names. A file or row that was imported before updates its article.',
    body: Type.Object(
      {
        files: Type.Array(
          Type.Object(
            {
              path: text(limits.address, 'Path within the folder, by which it is recognized.', {
                minLength: 1,
                pattern: visiblePattern,
                example: 'shipping/returns.md',
              }),
              text: text(maxFileLength, 'Its text.', { example: '# How do I return something?\n\nWithin 30 days.' }),
            },
            closed,
          ),
          { minItems: 1, maxItems: maxFiles },
        ),
        ...options,
      },
      closed,
    ),
    answers: { 200: ImportReport },
    errors: [409],
    options: { bodyLimit: maxBodyBytes },
    run: async ({ member, body }) => {
      const { articles, problems } = await parseFiles(body.files, { language: body.language })
      return store(deps, member, { articles, problems }, optionsOf(body, 'import'))
    },
  })
}

function siteRoutes(api: TeamApi, deps: ImportDeps): void {
  api.post(`${knowledgePath}/read-site-map`, 'admin', {
    operationId: 'readSiteMap',
    summary: 'Read a site map',
    description: `For admins. Returns the addresses of its pages, at most ${maxPages}, all of the same host: pass them to importSitePages.`,
    body: Type.Object({ siteMap: address }, closed),
    answers: {
      200: titled('SiteMapPages', {
        addresses: Type.Array(text(limits.address, 'A page.'), { maxItems: maxPages }),
        isCut: Type.Boolean({ description: 'Whether it has more pages, which are left out.' }),
      }),
    },
    errors: [422],
    run: ({ body }) => {
      requireAllowed(deps, 'siteMap', body.siteMap)
      return readSiteMap(deps.outgoing, body.siteMap)
    },
  })
  api.post(`${knowledgePath}/import-pages`, 'admin', {
    operationId: 'importSitePages',
    summary: 'Import pages of a site',
    description:
      'For admins. Each page becomes an article, by its main part. A page that was imported before updates its article. Pages of another host than the site map are refused.',
    body: Type.Object(
      {
        siteMap: address,
        addresses: Type.Array(address, { minItems: 1, maxItems: maxPagesAtOnce, uniqueItems: true }),
        ...options,
      },
      closed,
    ),
    answers: { 200: ImportReport },
    errors: [409],
    run: async ({ member, body }) => {
      const host = hostOf('siteMap', body.siteMap)
      for (const [n, one] of body.addresses.entries()) {
        if (hostOf(`addresses[${n}]`, one) !== host)
          throw invalid(`addresses[${n}]`, 'must be of the host of the site map')
        requireAllowed(deps, `addresses[${n}]`, one)
      }
      const pages = await Promise.all(body.addresses.map((one) => readPage(deps.outgoing, one, body)))
      const articles = pages.filter((one): one is ImportedArticle => 'fields' in one)
      const problems = pages.filter((one): one is ImportProblem => 'problem' in one)
      return store(deps, member, { articles, problems }, optionsOf(body, 'site'))
    },
  })
}

const optionsOf = (
  { publish = false, dryRun = false }: { publish?: boolean; dryRun?: boolean },
  source: ImportOptions['source'],
): ImportOptions => ({ source, isPublishing: publish, isDryRun: dryRun })

/** Articles of one transaction. */
const batchSize = 100

async function store(
  deps: ImportDeps,
  member: Member,
  { articles, problems }: { articles: readonly ImportedArticle[]; problems: readonly ImportProblem[] },
  importOptions: ImportOptions,
): Promise<Static<typeof ImportReport>> {
  const results: Static<typeof ImportReport>['results'] = []
  for (let from = 0; from < articles.length; from += batchSize) {
    const some = articles.slice(from, from + batchSize)
    const stored = await importArticles(deps, authorOf(member), some, importOptions)
    for (const [n, { address: at, fields }] of some.entries()) {
      const { article = null, action = 'unchanged' } = stored[n] ?? {}
      results.push({ address: at, action, articleId: article?.id ?? null, title: fields.title, problem: null })
    }
  }
  for (const { address: at, problem } of problems) {
    results.push({ address: at, action: 'failed', articleId: null, title: null, problem })
  }
  return { results }
}

function hostOf(field: string, one: string): string {
  const url = URL.parse(one)
  if (url === null) throw invalid(field, 'must be an http or https address')
  return url.hostname
}

function requireAllowed({ outgoing }: ImportDeps, field: string, one: string): void {
  hostOf(field, one)
  const refusal = outgoing.refusal(one)
  if (refusal !== null) throw invalid(field, refusal)
}

/** Pages of a site that an import reads at most, and of nested site maps. */
const maxPages = 500
const maxSiteMaps = 20
const maxSiteMapBytes = 2 * 1024 * 1024
const maxPageBytes = 1024 * 1024
const timeoutMs = 8_000
const maxRedirects = 3

/**
 * Returns the addresses of the pages in a site map and in those that it lists, all of the same host. Throws 422 if it
 * cannot be read.
 */
async function readSiteMap(outgoing: Outgoing, address: string) {
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
async function readPage(
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
