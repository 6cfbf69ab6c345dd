import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { afterEachTest } from '../../../server/test/support/file-lifecycle.ts'

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

/** Pages and contexts of the running test. Open pages would slow down later tests. */
const opened = new Set<Page | BrowserContext>()
/** Uncaught errors and console errors; also errors from which React recovered by rendering the whole page again. */
const pageErrors: string[] = []
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
      // Requests that a test aborts may still be under way.
      await one.unrouteAll({ behavior: 'ignoreErrors' }).catch(() => {})
      await one.close()
    }),
  )
  opened.clear()
  assert.deepEqual(pageErrors.splice(0), [], 'No page may throw what nobody catches, or fail to load anything')
})

/** Closes the page or context after the running test. */
export function closeAfterTest(one: Page | BrowserContext): void {
  opened.add(one)
}

const openPages = (): Page[] => [...opened].flatMap((one) => ('pages' in one ? one.pages() : [one]))

/** Logs what a page shows when its test fails, in case the failure cannot be reproduced. */
async function logPage(test: TestContext, page: Page): Promise<void> {
  const snapshot = await page.locator('body').ariaSnapshot({ timeout: 5000 }).catch(String)
  test.diagnostic(`${page.url()} shows\n${snapshot.slice(-6000)}`)
}

/** Does nothing unless SCREENSHOTS names a folder for images. */
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
  // A fake tone as microphone, without a permission prompt.
  const microphone = ['--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream']
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', ...lean, ...microphone],
    slowMo: Number(process.env.SLOW_HAND ?? 0),
  })
}

/** Opens a separate browser context without a session. */
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
  page.on('pageerror', (error) => pageErrors.push(error.message))
  page.on('console', (message) => {
    const text = message.text()
    if (message.type() !== 'error' || ofBrowser.test(text)) return
    if (!(allowedLoadFailures.has(page) && text.startsWith('Failed to load resource'))) pageErrors.push(text)
  })
  return { page, context }
}

/** Allows failed requests of the page, for tests that block responses. */
export function allowLoadFailure(page: Page): void {
  allowedLoadFailures.add(page)
}

/**
 * Slowdown factor of the CPU; responses are delayed by 40 ms for each. Reveals tests that depend on the order of
 * events.
 */
const slowdownFactor = Number(process.env.SLOW_BROWSER ?? 1)

async function slowDown(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page)
  await session.send('Emulation.setCPUThrottlingRate', { rate: slowdownFactor })
  const anySpeed = { downloadThroughput: -1, uploadThroughput: -1 }
  await session.send('Network.emulateNetworkConditions', { offline: false, latency: 40 * slowdownFactor, ...anySpeed })
}

/** Console messages of the browser itself: failed requests, and features that the test browser lacks. */
const ofBrowser = /^(?:Failed to load resource: .* status of 4\d\d|Chrome currently does not support)/

// React wraps recovered errors, and browsers report only the wrapper.
const logCauses = `addEventListener('error', ({ error }) => error?.cause && console.error('Because of', error.cause))`
