import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { databaseSettings, testDatabase } from '../../../server/test/support/database.ts'
import { afterEachTest, atEnd, keptForProcess } from '../../../server/test/support/file-end.ts'
import { newFolder } from '../../../server/test/support/folder.ts'
import { freePort, operatorToken, type Service, startService } from '../../../server/test/support/program/service.ts'

/** The demo as a first start leaves it, on a database of the tests, with a browser in front. */
export interface Demo {
  service: Service
  /** What its data are sealed with. */
  masterKey: Buffer
  url: string
  /** The simulated platform, without a trailing slash. */
  simulatorUrl: string
  workspaceId: string
  apiKey: string
  signInUrl: string
  browser: Browser
  /** A page that is signed in as the demo's owner, at the given place of the workspace; its browser remembers nothing. */
  open(place?: string, options?: OpenOptions): Promise<Visit>
  /** Calls the team's interface as an operator. */
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape; a test fails where one is wrong
  team(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<any>
  /** Calls the interface for keys, or the simulator's when given its address. */
  call(
    method: string,
    url: string,
    body?: unknown,
    headers?: Record<string, string>,
    // biome-ignore lint/suspicious/noExplicitAny: as above
  ): Promise<{ status: number; body: any }>
  /** Stops the service and starts it again on the same data, at the same address. */
  restart(): Promise<void>
}

export interface OpenOptions {
  viewport?: { width: number; height: number }
  colorScheme?: 'light' | 'dark'
  language?: 'en' | 'pt' | 'es'
  reducedMotion?: 'reduce' | 'no-preference'
  /** In a browser that no other visit shares, signed in as the owner all the same: for a test that changes its clock. */
  isAlone?: boolean
  /** Stays open for the tests after this one. */
  isKept?: boolean
}

export interface Visit {
  page: Page
  context: BrowserContext
  /** Errors of the page and its console, which a test wants empty at its end. */
  problems: string[]
}

export const desktop = { width: 1440, height: 900 }
export const phone = { width: 390, height: 844 }

/** Pages and browsers of the running test. A page that is left open goes on drawing all that later tests do. */
const opened = new Set<Page | BrowserContext>()
const kept = new Set<Page>()
/** What their programs threw or complained of; also what React got over only by drawing the whole page anew. */
const thrown: string[] = []
afterEachTest(async (test) => {
  if (!test.passed) for (const one of [...opened, ...kept]) await tellLook(test, one)
  await Promise.all(
    [...opened].map(async (one) => {
      // What a test lets fail may still be on its way: it is nobody's any more.
      await one.unrouteAll({ behavior: 'ignoreErrors' }).catch(() => {})
      await one.close()
    }),
  )
  opened.clear()
  assert.deepEqual(thrown.splice(0), [], 'No page may throw what nobody catches')
})

/** What a page shows when its test fails: where the fault cannot be had again, this is all that is known of it. */
async function tellLook(test: TestContext, one: Page | BrowserContext): Promise<void> {
  for (const page of 'pages' in one ? one.pages() : [one]) {
    const look = await page.locator('body').ariaSnapshot({ timeout: 5000 }).catch(String)
    test.diagnostic(`${page.url()} shows\n${look.slice(-6000)}`)
  }
}

let shared: Demo | undefined

/**
 * The demo of all files of the process that ask for it, of which the runner gives one several: for tests that need nothing
 * of the demo as it was, and leave nothing that would change what others see but leads and customers of their own.
 */
export async function sharedDemo(): Promise<Demo> {
  // The runner takes what waits for a promise of another file for a part of that one.
  shared ??= await keptForProcess(openDemo)
  return shared
}

export async function openDemo(): Promise<Demo> {
  const [folder, port, simulatorPort] = [await newFolder(), await freePort(), await freePort()]
  const masterKey = randomBytes(32)
  const env = {
    ...databaseSettings(await testDatabase()),
    PARLEY_MASTER_KEY: masterKey.toString('base64'),
    PARLEY_DEMO: '1',
    PARLEY_SIMULATOR_PORT: String(simulatorPort),
    PARLEY_LEADS_RATE_LIMIT: '',
  }
  const [browser, first] = await Promise.all([launchBrowser(), startService({ folder, port, env, args: ['--json'] })])
  let service = first
  atEnd(async () => {
    await browser.close()
    // A process that is killed keeps nothing of what it compiled, and the next one would compile it all again.
    service.kill('SIGTERM')
    await service.gone
  })
  await service.hasTold('"signInUrl"')
  const start = JSON.parse(/^\{.*"signInUrl".*$/m.exec(service.told())?.[0] ?? '{}')
  const url = service.url
  const owner = ownerOf(browser, url, start.signInUrl)
  const call: Demo['call'] = async (method, target, body, headers = {}) => {
    const address = target.startsWith('http') ? target : `${url}${target}`
    const json = body === undefined ? {} : { body: JSON.stringify(body) }
    const type = body === undefined ? {} : { 'content-type': 'application/json' }
    const answer = await fetch(address, { method, headers: { ...type, ...headers }, ...json })
    const text = await answer.text()
    return { status: answer.status, body: text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : text }
  }
  return {
    get service() {
      return service
    },
    masterKey,
    url,
    simulatorUrl: new URL(start.phonesUrl).origin,
    workspaceId: start.workspaceId,
    apiKey: start.apiKey,
    signInUrl: start.signInUrl,
    browser,
    call,
    team: async (method, path, body, headers = {}) => {
      const asOperator = { authorization: `Bearer ${operatorToken}`, ...headers }
      return (await call(method, `/api/team/v1${path}`, body, asOperator)).body
    },
    open: async (place = 'home', options = {}) => {
      const visit = await owner.visit(options)
      await visit.page.goto(`${url}/w/${start.workspaceId}/${place}`)
      await visit.page.getByRole('navigation').first().waitFor()
      return visit
    },
    restart: async () => {
      service.kill('SIGTERM')
      await service.gone
      service = await startService({ folder, port, env })
    },
  }
}

/** Resolves when the page asks for a sign-in, of whose session somebody has ended. */
export async function signedOut(page: Page): Promise<void> {
  // It may be on its way there by itself, which ends the loading.
  await page.reload().catch(() => undefined)
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
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

// The link brings one to where a password is chosen.
const laterWords = /^(Later|Depois|Más tarde)$/

/** The owner keeps one browser for each language: a new one would read and compile the whole app at each visit. */
function ownerOf(browser: Browser, url: string, signInUrl: string) {
  const browsers = new Map<string, { context: BrowserContext; keeper: Page }>()
  let signedIn: StorageState | undefined
  const begin = async (options: OpenOptions) => {
    const context = await newContext(browser, options, signedIn)
    const keeper = await context.newPage()
    if (signedIn === undefined) {
      await keeper.goto(signInUrl)
      await keeper.getByRole('button').first().click()
      await keeper.getByRole('link', { name: laterWords }).click()
      await keeper.getByRole('navigation').first().waitFor()
      signedIn = await context.storageState()
    }
    // As long as one page of the site is there, others begin in its process.
    await keeper.goto(`${url}/healthz`)
    return { context, keeper }
  }
  return {
    visit: async (options: OpenOptions): Promise<Visit> => {
      const { language = 'en', isAlone = false, isKept = false } = options
      const { context, keeper } = browsers.get(language) ?? (await begin(options))
      browsers.set(language, { context, keeper })
      if (isAlone) {
        const own = await newContext(browser, options, signedIn)
        opened.add(own)
        return newVisit(own, options)
      }
      await keeper.evaluate('localStorage.clear()')
      await context.unrouteAll({ behavior: 'ignoreErrors' })
      const visit = await newVisit(context, options)
      if (isKept) kept.add(visit.page)
      else opened.add(visit.page)
      return visit
    },
  }
}

/** A browser of its own, signed in as nobody. */
export async function visitOf(browser: Browser, options: OpenOptions): Promise<Visit> {
  const context = await newContext(browser, options)
  opened.add(context)
  return newVisit(context, options)
}

type StorageState = Awaited<ReturnType<BrowserContext['storageState']>>

function newContext(browser: Browser, { language = 'en' }: OpenOptions, storageState?: StorageState) {
  const own = storageState === undefined ? {} : { storageState }
  return browser.newContext({ locale: language, timezoneId: 'America/Sao_Paulo', ...own })
}

async function newVisit(context: BrowserContext, options: OpenOptions): Promise<Visit> {
  const { viewport = desktop, colorScheme = 'light', reducedMotion = 'reduce' } = options
  const page = await context.newPage()
  await page.emulateMedia({ reducedMotion })
  await turn(page, { viewport, colorScheme })
  page.setDefaultTimeout(30_000)
  if (slowness > 1) await slowDown(page)
  const problems: string[] = []
  await page.addInitScript(tellCauses)
  page.on('pageerror', (error) => {
    problems.push(error.message)
    thrown.push(error.message)
  })
  page.on('console', (message) => {
    if (message.type() === 'error' && !ofBrowser.test(message.text())) thrown.push(message.text())
    // A browser notes every answer that is a refusal; what the page makes of one is for the test to see.
    const isRefusal = /^Failed to load resource: .* status of 4\d\d/.test(message.text())
    if (message.type() === 'error' && !isRefusal) problems.push(message.text())
  })
  return { page, context, problems }
}

/**
 * How many times slower than this machine the pages compute, and as many times 40 ms later they hear of anything: what a
 * test takes for granted of the order of things shows where they are slow.
 */
const slowness = Number(process.env.SLOW_BROWSER ?? 1)

async function slowDown(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page)
  await session.send('Emulation.setCPUThrottlingRate', { rate: slowness })
  const anySpeed = { downloadThroughput: -1, uploadThroughput: -1 }
  await session.send('Network.emulateNetworkConditions', { offline: false, latency: 40 * slowness, ...anySpeed })
}

/** What a browser says by itself: of answers that are refusals, and of what it lacks as tests run it. */
const ofBrowser = /^(?:Failed to load resource|Chrome currently does not support)/

// React wraps what it got over, and a browser tells the wrapping alone.
const tellCauses = `addEventListener('error', ({ error }) => error?.cause && console.error('Because of', error.cause))`

interface Look {
  isDark: boolean
  isPhone: boolean
}

const looks = new WeakMap<Page, Look>()
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const colourRules = ['color-contrast', 'link-in-text-block']

/**
 * What is wrong with the page for people who cannot see it or use a mouse: to them all that axe finds is serious. The dark scheme differs
 * from the light one by its colours alone, and a phone by all but them: each is held to what it differs by.
 */
export async function seriousIssues(page: Page): Promise<string[]> {
  // Rows that are about to be others are dimmed meanwhile, for less than anybody could read them in.
  await page.locator('[data-old], [data-stale]').first().waitFor({ state: 'detached' })
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe)
  // biome-ignore lint/suspicious/noExplicitAny: the library has just been put there
  const { violations } = await page.evaluate((options) => (globalThis as any).axe.run(options), {
    resultTypes: ['violations'],
    // It is in none of them, and would wait half a second for the answer of each.
    iframes: false,
    ...rulesFor(looks.get(page)),
  })
  const found = (violations as Violation[]).flatMap(({ id, nodes }) => nodes.map((node) => ({ id, ...node })))
  // What drops from a button is reached by that button, and belongs to no landmark.
  const dropped = 'document.querySelector("[data-portal] :is([role=menu], [role=dialog], [role=listbox])") !== null'
  const isDropped = await page.evaluate<boolean>(dropped)
  return found
    .filter(({ id }) => !(isDropped && id === 'region'))
    .map(({ id, html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${failureSummary.slice(0, 200)}`)
}

interface Violation {
  id: string
  nodes: { html: string; failureSummary: string }[]
}

function rulesFor({ isDark, isPhone }: Look = { isDark: false, isPhone: false }): object {
  if (isDark) return { runOnly: colourRules }
  return isPhone ? { rules: Object.fromEntries(colourRules.map((rule) => [rule, { enabled: false }])) } : {}
}

/**
 * What is wrong with the page as it stands: on a desktop in both schemes, on a phone by its layout. A picture of each is kept.
 * A page is not loaded again to be dark, since only its colours follow.
 */
export async function issuesInSchemes(page: Page, name: string): Promise<string[]> {
  if (looks.get(page)?.isPhone) return issuesIn(page, `${name}-phone`)
  const light = await issuesIn(page, `${name}-light`)
  await follow(page, 'dark')
  const dark = await issuesIn(page, `${name}-dark`)
  await follow(page, 'light')
  return [...light, ...dark]
}

/** Resolves once the app has followed; a page that is none of the app follows by its style alone. */
async function follow(page: Page, colorScheme: 'light' | 'dark'): Promise<void> {
  await turn(page, { colorScheme })
  const root = `html[data-mantine-color-scheme=${colorScheme}], html:not([data-mantine-color-scheme])`
  await page.locator(root).waitFor({ state: 'attached' })
}

/** The same, and on a phone: for what a phone shows without being asked for it. */
export async function issuesInEachLook(page: Page, name: string): Promise<string[]> {
  const issues = await issuesInSchemes(page, name)
  await turn(page, { viewport: phone })
  issues.push(...(await issuesInSchemes(page, name)))
  await turn(page, {})
  return issues
}

async function issuesIn(page: Page, look: string): Promise<string[]> {
  await picture(page, look)
  return (await seriousIssues(page)).map((issue) => `${look}: ${issue}`)
}

async function turn(page: Page, { viewport = desktop, colorScheme = 'light' }: OpenOptions): Promise<void> {
  await page.setViewportSize(viewport)
  await page.emulateMedia({ colorScheme })
  looks.set(page, { isDark: colorScheme === 'dark', isPhone: viewport.width < 600 })
}

/** Keeps a picture of the page in the folder that SCREENSHOTS names; does nothing without it. */
export async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env.SCREENSHOTS
  if (folder === undefined) return
  await mkdir(folder, { recursive: true })
  await page.screenshot({ path: join(folder, `${name}.png`) })
}
