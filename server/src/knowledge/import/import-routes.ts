import { type Static, Type } from 'typebox'
import { invalid } from '../../base/errors.ts'
import type { Outgoing } from '../../base/outgoing/guarded-fetch.ts'
import { nullable, oneOf, titled } from '../../base/route.ts'
import { text, visiblePattern } from '../../base/schema-types.ts'
import type { Member } from '../../team/member.ts'
import type { TeamApi } from '../../team/team-api.ts'
import { closed, idSchema } from '../../team/team-schema.ts'
import { limits } from '../article.ts'
import { knowledgePath, language } from '../schema.ts'
import type { ImportedArticle, ImportOptions, KnowledgeDeps } from '../write-article.ts'
import { authorOf, importArticles } from '../write-article.ts'
import { type ImportProblem, maxRows, parseFiles } from './parse-files.ts'
import { maxPages, readPage, readSiteMap } from './read-site.ts'

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
