import assert from 'node:assert/strict'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { test } from 'node:test'
import { htmlToMarkdown } from '../../src/knowledge/import/html-to-markdown.ts'
import { parseFiles, parseMarkdown } from '../../src/knowledge/import/parse-files.ts'
import { atEnd } from '../support/file-lifecycle.ts'
import { signedInMember } from '../support/member.ts'
import { fileServer } from '../support/outgoing/file-server.ts'
import { world } from '../support/world.ts'

test('a Markdown file names its fields in its front matter, or by its first heading or name', () => {
  const cases: [path: string, file: string, expected: object][] = [
    ['a.md', '# Returns\n\nIn 30 days.', { title: 'Returns', body: '\nIn 30 days.' }],
    ['shop/opening-hours.md', 'From 9 to 18.', { title: 'opening hours', body: 'From 9 to 18.' }],
    [
      'a.md',
      '---\ntitle: "Returns: how"\nlang: pt-BR\ntags: [refund, \'shoes\']\nvalid_until: 2026-12-31\nauthor: Ana\n---\nIn 30 days.',
      { title: 'Returns: how', language: 'pt-BR', tags: 'refund,shoes', validUntil: '2026-12-31', body: 'In 30 days.' },
    ],
    [
      'a.md',
      '---\r\ntags:\r\n  - one\r\n  - two\r\n---\r\n# T #\r\nText',
      { tags: 'one,two', title: 'T', body: 'Text' },
    ],
    ['a.md', '---\nNot front matter, only a line', { title: 'a', body: '---\nNot front matter, only a line' }],
  ]
  for (const [path, file, expected] of cases) assert.deepEqual(parseMarkdown(path, file), expected)
})

test('files become articles, and what is none is named with the reason', async () => {
  const csv = 'question;answer;lang;url\nWhere are you?;"In Recife;\nby the sea.";pt;/where\nEmpty;;;\n'
  const files = [
    { path: 'returns.md', text: '# Returns\nIn 30 days.' },
    { path: 'faq.csv', text: csv },
    { path: 'empty.md', text: '# Only a title' },
    { path: 'long.md', text: `# Long\n${'x'.repeat(50_001)}` },
    { path: 'logo.png', text: 'x' },
    { path: 'other.csv', text: 'a,b\n1,2' },
    { path: 'broken.csv', text: 'title,body\n"x' },
    { path: 'wrong.md', text: '---\nkind: page\n---\n# Wrong\nText' },
  ]
  const { articles, problems } = await parseFiles(files, { language: 'en' })
  assert.deepEqual(
    articles.map(({ address, fields }) => [address, fields.title, fields.language, fields.body]),
    [
      ['returns.md', 'Returns', 'en', 'In 30 days.'],
      ['/where', 'Where are you?', 'pt', 'In Recife;\nby the sea.'],
    ],
  )
  assert.deepEqual(
    problems.map(({ address, problem }) => [address, problem]),
    [
      ['faq.csv#Empty', 'has no text'],
      ['empty.md', 'has no text'],
      ['long.md', 'has more than 50000 characters'],
      ['logo.png', 'must be a Markdown or CSV file'],
      ['other.csv', 'must have columns title and body in its first row'],
      ['broken.csv', 'is not a CSV file: check its quotes'],
      ['wrong.md', 'has a kind that is not article or answer'],
    ],
  )
})

const page = (main: string) => `<!doctype html><html class="x" lang="pt-BR"><head><title>Shop &amp; Co</title>
<script>var a = "<p>not text</p>"</script></head><body><nav><a href="/">Home</a></nav>${main}<footer>Footer</footer></body></html>`

test('the main part of a page becomes Markdown', () => {
  const address = 'https://shop.example/help/returns'
  const cases: [html: string, body: string][] = [
    ['<main><h1>Returns</h1><p>In <b>30&nbsp;days</b>.</p></main>', 'In **30 days**.'],
    ['<div><p>One<br>two</p><p>Devolu&ccedil;&otilde;es &#8211; &#x41;</p></div>', 'One\ntwo\n\nDevoluções – A'],
    ['<article><ul><li>One</li><li>Two <i>2</i></li></ul></article>', '- One\n- Two _2_'],
    ['<main><ol><li>First</li><li>Second</li></ol></main>', '1. First\n2. Second'],
    [
      '<main><p><a href="/pay">Pay</a> or <a href="javascript:alert(1)">not</a></p></main>',
      '[Pay](https://shop.example/pay) or not',
    ],
    ['<main><!-- <p>no</p> --><style>p{}</style><p>Yes</p><form>no</form></main>', 'Yes'],
    ['<main><pre>a\n  b</pre></main>', '```\na\n  b\n```'],
    ['<main><p>1 < 2 and <unclosed', '1 < 2 and Footer'],
  ]
  for (const [html, body] of cases) assert.equal(htmlToMarkdown(page(html), address).body, body, html)
  const { title, language } = htmlToMarkdown(page('<main><h1>Returns <em>now</em></h1></main>'), address)
  assert.deepEqual([title, language], ['Returns now', 'pt'])
  assert.equal(htmlToMarkdown(page('<p>x</p>'), address).title, 'Shop & Co')
})

test('a hostile page takes no time', () => {
  const start = process.cpuUsage()
  const parts = ['<', '<a', '<!--', '<div>', '<script>', '&amp', '<a href="', '</', "<p title='", '<h1>', '# \n']
  for (const part of parts) htmlToMarkdown(part.repeat(1_000_000 / part.length), 'https://a.example')
  for (const part of ['---\n', '- x\n', 'a: [', '# ']) parseMarkdown('a.md', part.repeat(100_000))
  const { user } = process.cpuUsage(start)
  assert.ok(user < 5_000_000, `${user} µs`)
})

async function importWorld() {
  const w = await world()
  const [admin, member] = [await signedInMember(w, 'admin'), await signedInMember(w)]
  const actions = (results: { address: string; action: string }[]) =>
    results.map(({ address, action }) => [address, action])
  const list = async () => (await admin.call('GET', '/knowledge/articles')).body.articles
  return { ...w, admin, member, actions, list }
}

test('a repeated import of files updates their articles, and a dry run changes nothing', async () => {
  const w = await importWorld()
  const files = [{ path: 'returns.md', text: '# Returns\nIn 30 days.' }]
  const run = async (body: object, by = w.admin) => {
    const answer = await by.call('POST', '/knowledge/import-files', { files, language: 'en', ...body })
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    return w.actions(answer.body.results)
  }
  assert.deepEqual(await run({ dryRun: true }), [['returns.md', 'created']])
  assert.deepEqual(await w.list(), [])
  assert.deepEqual(await run({ publish: true }), [['returns.md', 'created']])
  assert.deepEqual(await run({ publish: true }), [['returns.md', 'unchanged']])
  const changed = { files: [{ path: 'returns.md', text: '# Returns\nIn 14 days.' }] }
  assert.deepEqual(await run(changed, w.member), [['returns.md', 'refused']], 'members do not change what is published')
  assert.deepEqual(await run({ ...changed, dryRun: true }), [['returns.md', 'updated']])
  assert.deepEqual(await run(changed), [['returns.md', 'updated']])
  const [article, ...others] = await w.list()
  assert.deepEqual(
    [article.version, article.status, article.source, article.sourceAddress, others.length],
    [2, 'published', 'import', 'returns.md', 0],
  )
  const refused = await w.member.call('POST', '/knowledge/import-files', { files, language: 'en', publish: true })
  assert.equal(refused.status, 403)
})

test('the pages of a site map become articles: only of its host, and each once', async () => {
  const w = await importWorld()
  const site = await fileServer(serveSite)
  atEnd(site.close)
  const siteMap = `${site.baseUrl}/sitemap.xml`
  const read = await w.admin.call('POST', '/knowledge/read-site-map', { siteMap })
  const names = ['returns', 'moved', 'away', 'missing', 'picture']
  const addresses = names.map((name) => `${site.baseUrl}/${name}`)
  assert.deepEqual([read.status, read.body], [200, { addresses, isCut: false }])
  const run = async () => {
    const body = { siteMap, addresses, language: 'en', publish: true }
    const answer = await w.admin.call('POST', '/knowledge/import-pages', body)
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    return answer.body.results as { address: string; action: string; problem: string | null }[]
  }
  const results = await run()
  assert.deepEqual(
    results.map(({ action, problem }) => [action, problem]),
    [
      ['created', null],
      ['created', null],
      ['failed', 'leads to another site'],
      ['failed', 'was answered with status 404'],
      ['failed', 'is not a web page'],
    ],
  )
  assert.deepEqual(
    (await run()).slice(0, 2).map(({ action }) => action),
    ['unchanged', 'unchanged'],
  )
  const articles = await w.list()
  assert.equal(articles.length, 2)
  assert.deepEqual([articles[0].source, articles[0].language], ['site', 'pt'])

  const other = { siteMap, addresses: ['https://other.example/page'], language: 'en' }
  const refused = await w.admin.call('POST', '/knowledge/import-pages', other)
  assert.deepEqual([refused.status, refused.body.data.issues[0].path], [400, 'addresses[0]'])
  const inside = await w.admin.call('POST', '/knowledge/read-site-map', {
    siteMap: 'http://169.254.169.254/sitemap.xml',
  })
  assert.deepEqual([inside.status, inside.body.data.issues[0].path], [400, 'siteMap'])
  const none = await w.admin.call('POST', '/knowledge/read-site-map', { siteMap: `${site.baseUrl}/returns` })
  assert.deepEqual([none.status, none.body.data.code], [422, 'SITE_MAP_UNREADABLE'])
  assert.equal((await w.member.call('POST', '/knowledge/read-site-map', { siteMap })).status, 403)
})

function serveSite({ url, headers }: IncomingMessage, response: ServerResponse): void {
  const origin = `http://${headers.host}`
  const send = (type: string, body: string) => response.setHeader('content-type', type).end(body)
  const loc = (path: string) => `<url><loc>${path.startsWith('http') ? path : origin + path}</loc></url>`
  if (url === '/sitemap.xml') {
    const nested = `<sitemap><loc>${origin}/pages.xml</loc></sitemap><sitemap><loc>${origin}/none.xml</loc></sitemap>`
    return void send('application/xml', `<?xml version="1.0"?><sitemapindex>${nested}</sitemapindex>`)
  }
  const pages = ['/returns', '/moved', '/away', '/missing', '/picture', 'https://other.example/x']
  if (url === '/pages.xml') return void send('application/xml', `<urlset>${pages.map(loc).join('')}</urlset>`)
  if (url === '/returns' || url === '/new') {
    return void send('text/html; charset=utf-8', page(`<main><h1>${url}</h1><p>In 30 days.</p></main>`))
  }
  if (url === '/picture') return void send('image/png', 'x')
  if (url === '/moved') return void response.writeHead(301, { location: '/new' }).end()
  if (url === '/away') return void response.writeHead(302, { location: 'https://other.example/' }).end()
  response.writeHead(404).end()
}
