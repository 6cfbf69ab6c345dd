import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CDPSession, Page } from 'playwright-core'
import { allowLoadFailure, type Visit } from './support/browser.ts'
import { waitUntil } from './support/composing.ts'
import { openDemo } from './support/demo.ts'

const demo = await openDemo()
// The demo's customers soon exceed the response time goal, which notifies the bell with another request.
await demo.team('PATCH', `/workspaces/${demo.workspaceId}`, { answerGoalMinutes: null })
const mostRequests = 25
const mostBytes = 184_000
const aMoment = 1000

interface Fetched {
  url: string
  method: string
  bytes: number
}

/** Opens a page in a browser without cache, before any navigation. */
async function coldVisit(language: 'en' | 'pt' = 'en'): Promise<Visit & { fetched: Fetched[] }> {
  const visit = await demo.open('profile', { isAlone: true, language })
  const page = await visit.context.newPage()
  await visit.page.close()
  const session = await visit.context.newCDPSession(page)
  await session.send('Network.enable')
  await session.send('Network.clearBrowserCache')
  return { ...visit, page, fetched: await follow(session) }
}

async function follow(session: CDPSession): Promise<Fetched[]> {
  const fetched: Fetched[] = []
  const asked = new Map<string, Omit<Fetched, 'bytes'>>()
  session.on('Network.requestWillBeSent', ({ requestId, request }) => {
    asked.set(requestId, { url: request.url, method: request.method })
  })
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    const one = asked.get(requestId)
    if (one !== undefined && !one.url.startsWith('data:')) fetched.push({ ...one, bytes: encodedDataLength })
  })
  return fetched
}

// Runs in the page, before its own scripts.
const markRows = `const look = () => {
  if (document.querySelector('li [data-row], [aria-busy="false"] [role="rowgroup"] > [data-row], dl dd') === null) return
  performance.mark('rows')
  observer.disconnect()
}
// At once, not on the next frame: requests made right after rendering the rows are answered here immediately.
const observer = new MutationObserver(look)
observer.observe(document, { childList: true, subtree: true, attributes: true })`
const thereWithRows = `{
  const [rows] = performance.getEntriesByName('rows')
  const there = performance.getEntriesByType('resource').filter((one) => one.startTime + one.duration <= rows.startTime);
  [location.href, ...there.map(({ name }) => name)]
}`

// Except the font, which is loaded when text is rendered, and replaces the fallback font.
for (const [room, language] of [
  ['inbox', 'en'],
  ['inbox', 'pt'],
  ['leads', 'pt'],
  ['home', 'pt'],
  ['inbox?view=agents', 'en'],
] as const)
  test(`${room} shows its rows after at most ${mostRequests} requests and ${mostBytes / 1000} KB, without duplicates, in ${language}`, async (t) => {
    const { page, fetched } = await coldVisit(language)
    await page.addInitScript({ content: markRows })
    await page.goto(`${demo.url}/w/${demo.workspaceId}/${room}`)
    await page.waitForFunction(() => performance.getEntriesByName('rows').length > 0)
    const there = new Set(await page.evaluate<string[]>(thereWithRows))
    const first = fetched.filter(({ url }) => there.has(url) && !url.endsWith('.woff2'))
    const bytes = first.reduce((sum, one) => sum + one.bytes, 0)
    const list = first.map((one) => `${one.bytes} ${one.url.replace(demo.url, '')}`).join('\n')
    t.diagnostic(`${first.length} requests, ${bytes} bytes`)
    assert.ok(first.length <= mostRequests && bytes <= mostBytes, `${first.length} requests, ${bytes} bytes:\n${list}`)
    await settled(page, fetched)
    const seen = fetched.filter(({ method }) => method === 'GET').map(({ url }) => url.replace(demo.url, ''))
    assert.deepEqual(
      seen.filter((url, n) => seen.indexOf(url) !== n),
      [],
    )
    assert.ok(seen.some((url) => url === '/api/team/v1/session'))
  })

/** Resolves when nothing has loaded for a while. */
async function settled(page: Page, fetched: readonly Fetched[]): Promise<void> {
  await page.waitForLoadState('load')
  for (let before = -1; before !== fetched.length; await page.waitForTimeout(aMoment)) before = fetched.length
}

test('the app shell appears before any other file has loaded, in the chosen color scheme', async () => {
  const { page, context } = await coldVisit()
  allowLoadFailure(page)
  await context.route(/\/assets\//, () => {})
  await page.emulateMedia({ colorScheme: 'light' })
  await page.goto(`${demo.url}/w/${demo.workspaceId}/inbox`, { waitUntil: 'commit' })
  const paints = () => page.evaluate(() => performance.getEntriesByName('first-contentful-paint').length)
  await waitUntil(paints, 1)
  const paper = () => page.evaluate("getComputedStyle(document.querySelector('.shell')).backgroundColor")
  assert.equal(await paper(), 'rgb(248, 249, 251)')
  await context.addCookies([{ name: 'parley_scheme', value: 'dark', url: demo.url }])
  await page.goto(`${demo.url}/w/${demo.workspaceId}/inbox`, { waitUntil: 'commit' })
  await waitUntil(paper, 'rgb(18, 22, 30)')
})
