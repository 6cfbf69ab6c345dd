// Prints how long a browser with an empty cache takes to show the app on a slow connection, and what it fetches:
//
//   node scripts/app-shell.ts <sign-in link> [place, inbox unless given] [rounds]
//
// The link is one from `parley member link`; it can be used only once.
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { ensureChromium } from './chromium.ts'

const slowConnection = {
  offline: false,
  latency: 150,
  downloadThroughput: 1_600_000 / 8,
  uploadThroughput: 750_000 / 8,
}
const settleMs = 2000

interface LoadTimes {
  paintMs: number
  contentMs: number
  rowsMs: number
  /** Main-thread processor time until shortly after the rows appear: the part of the time that is not waiting. */
  workMs: number
  requests: number
  kilobytes: number
}

// Rows of conversations or leads; figures on the home page.
const rows = 'li [data-row], [aria-busy="false"] [role="rowgroup"] > [data-row], dl dd'
// Runs in the page before any of its own code.
const watchRows = `const look = () => {
  if (document.querySelector('${rows}') === null) requestAnimationFrame(look)
  else requestAnimationFrame(() => performance.mark('rows'))
}
requestAnimationFrame(look)`

const [link, place = 'inbox', rounds = '5'] = process.argv.slice(2)
if (link === undefined)
  throw new Error('A sign-in link is required: node scripts/app-shell.ts http://127.0.0.1:7007/sign-in/…')

const browser = await chromium.launch({ executablePath: ensureChromium(), args: ['--no-sandbox', '--disable-gpu'] })
const { storageState, workspace } = await signIn(browser, link)
const all: LoadTimes[] = []
for (let n = 0; n < Number(rounds); n++) {
  const context = await browser.newContext({ storageState, viewport: { width: 1440, height: 900 } })
  all.push(await measureLoad(context, `${workspace}/${place}`))
  console.log(JSON.stringify(all.at(-1)))
  await context.close()
}
await browser.close()
const median = (of: (seen: LoadTimes) => number) => all.map(of).toSorted((a, b) => a - b)[Math.floor(all.length / 2)]
console.log(
  `${place}: first paint ${median((seen) => seen.paintMs)} ms, rows ${median((seen) => seen.rowsMs)} ms (${median((seen) => seen.workMs)} ms of work), ` +
    `until then ${median((seen) => seen.requests)} requests of ${median((seen) => seen.kilobytes)} kB`,
)

async function signIn(browser: Browser, link: string) {
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.goto(link)
  await page.getByRole('button').first().click()
  await page.waitForURL(({ pathname }) => !pathname.startsWith('/sign-in'))
  await page.goto(new URL('/', link).href)
  await page.waitForURL(/\/w\/[^/]+\/home/)
  const workspace = page.url().replace(/\/home.*$/, '')
  const storageState = await context.storageState()
  await context.close()
  return { storageState, workspace }
}

async function measureLoad(context: BrowserContext, url: string): Promise<LoadTimes> {
  const page = await context.newPage()
  const session = await context.newCDPSession(page)
  await session.send('Network.enable')
  await session.send('Network.emulateNetworkConditions', slowConnection)
  await session.send('Performance.enable', { timeDomain: 'threadTicks' })
  await page.addInitScript({ content: watchRows })
  const fetched: { atMs: number; bytes: number }[] = []
  const begunMs = Date.now()
  session.on('Network.loadingFinished', ({ encodedDataLength }) =>
    fetched.push({ atMs: Date.now() - begunMs, bytes: encodedDataLength }),
  )
  await page.goto(url, { waitUntil: 'commit' })
  await page.locator(rows).first().waitFor()
  const { metrics } = await session.send('Performance.getMetrics')
  const workMs = Math.round((metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN) * 1000)
  await page.waitForTimeout(settleMs)
  const { paintMs, contentMs, rowsMs, origin } = await timesOf(page)
  const before = fetched.filter(({ atMs }) => begunMs + atMs <= origin + rowsMs)
  const bytes = before.reduce((sum, one) => sum + one.bytes, 0)
  return { paintMs, contentMs, rowsMs, workMs, requests: before.length, kilobytes: Math.round(bytes / 100) / 10 }
}

function timesOf(page: Page) {
  return page.evaluate(() => {
    const at = (name: string) => Math.round(performance.getEntriesByName(name)[0]?.startTime ?? Number.NaN)
    return {
      paintMs: at('first-paint'),
      contentMs: at('first-contentful-paint'),
      rowsMs: at('rows'),
      origin: performance.timeOrigin,
    }
  })
}
