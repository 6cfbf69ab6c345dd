import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { afterEachTest } from '../../../server/test/support/file-end.ts'

export interface VisitOptions {
  viewport?: { width: number; height: number }
  language?: 'en' | 'pt' | 'es'
}

export interface Visit {
  page: Page
  context: BrowserContext
}

export const desktop = { width: 1440, height: 900 }
export const phone = { width: 390, height: 844 }

/** Pages and browsers of the running test. A page that is left open goes on drawing all that later tests do. */
const opened = new Set<Page | BrowserContext>()
/** What their programs threw or complained of; also what React got over only by drawing the whole page anew. */
const thrown: string[] = []
const allowedLoadFailures = new WeakSet<Page>()
const screenshots: Buffer[] = []
const screenshotFolder = process.env.SCREENSHOTS

afterEachTest(async (test) => {
  for (const page of openPages()) {
    if (!test.passed) await logPage(test, page)
    await takeScreenshot(page)
  }
  await saveScreenshots(test.fullName)
  await Promise.all(
    [...opened].map(async (one) => {
      // What a test lets fail may still be on its way: it is nobody's any more.
      await one.unrouteAll({ behavior: 'ignoreErrors' }).catch(() => {})
      await one.close()
    }),
  )
  opened.clear()
  assert.deepEqual(thrown.splice(0), [], 'No page may throw what nobody catches, or fail to load anything')
})

/** Closes the page or the browser after the test that runs. */
export function closeAfterTest(one: Page | BrowserContext): void {
  opened.add(one)
}

const openPages = (): Page[] => [...opened].flatMap((one) => ('pages' in one ? one.pages() : [one]))

/** What a page shows when its test fails: where the fault cannot be had again, this is all that is known of it. */
async function logPage(test: TestContext, page: Page): Promise<void> {
  const snapshot = await page.locator('body').ariaSnapshot({ timeout: 5000 }).catch(String)
  test.diagnostic(`${page.url()} shows\n${snapshot.slice(-6000)}`)
}

/** Does nothing unless SCREENSHOTS names a folder for pictures. */
export async function takeScreenshot(page: Page): Promise<void> {
  if (screenshotFolder !== undefined && !page.isClosed()) screenshots.push(await page.screenshot())
}

async function saveScreenshots(testName: string): Promise<void> {
  if (screenshotFolder === undefined) return
  await mkdir(screenshotFolder, { recursive: true })
  const name = testName.replace(/[^a-z0-9]+/gi, '-').slice(-100)
  for (const [n, picture] of screenshots.splice(0).entries())
    await writeFile(join(screenshotFolder, `${name}-${n + 1}.png`), picture)
}

export function launchBrowser(): Promise<Browser> {
  const lean = ['--disable-gpu', '--disable-dev-shm-usage', '--disable-background-networking', '--process-per-site']
  // A tone in place of a microphone, and nobody asked for it.
  const microphone = ['--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream']
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', ...lean, ...microphone],
    slowMo: Number(process.env.SLOW_HAND ?? 0),
  })
}

/** A browser of its own, signed in as nobody. */
export async function visitOf(browser: Browser, options: VisitOptions = {}): Promise<Visit> {
  const context = await newContext(browser, options)
  closeAfterTest(context)
  return newVisit(context, options)
}

export type StorageState = Awaited<ReturnType<BrowserContext['storageState']>>

export function newContext(
  browser: Browser,
  { language = 'en' }: VisitOptions,
  storageState?: StorageState,
): Promise<BrowserContext> {
  const own = storageState === undefined ? {} : { storageState }
  return browser.newContext({ locale: language, timezoneId: 'America/Sao_Paulo', ...own })
}

export async function newVisit(context: BrowserContext, { viewport = desktop }: VisitOptions): Promise<Visit> {
  const page = await context.newPage()
  await page.emulateMedia({ reducedMotion: 'reduce', colorScheme: 'light' })
  await page.setViewportSize(viewport)
  page.setDefaultTimeout(30_000)
  if (slowdownFactor > 1) await slowDown(page)
  await page.addInitScript(logCauses)
  page.on('pageerror', (error) => thrown.push(error.message))
  page.on('console', (message) => {
    const text = message.text()
    if (message.type() !== 'error' || ofBrowser.test(text)) return
    if (!(allowedLoadFailures.has(page) && text.startsWith('Failed to load resource'))) thrown.push(text)
  })
  return { page, context }
}

/** For a test that keeps the service from answering: what the page asks for meanwhile may fail. */
export function allowLoadFailure(page: Page): void {
  allowedLoadFailures.add(page)
}

/**
 * How many times slower than this machine the pages compute, and as many times 40 ms later they hear of anything: what a
 * test takes for granted of the order of things shows where they are slow.
 */
const slowdownFactor = Number(process.env.SLOW_BROWSER ?? 1)

async function slowDown(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page)
  await session.send('Emulation.setCPUThrottlingRate', { rate: slowdownFactor })
  const anySpeed = { downloadThroughput: -1, uploadThroughput: -1 }
  await session.send('Network.emulateNetworkConditions', { offline: false, latency: 40 * slowdownFactor, ...anySpeed })
}

/** What a browser says by itself: of each answer that is a refusal, and of what it lacks as tests run it. */
const ofBrowser = /^(?:Failed to load resource: .* status of 4\d\d|Chrome currently does not support)/

// React wraps what it got over, and a browser tells the wrapping alone.
const logCauses = `addEventListener('error', ({ error }) => error?.cause && console.error('Because of', error.cause))`
