import { readFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { after } from 'node:test'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { newFolder } from '../../../server/test/support/folder.ts'
import { freePort, operatorToken, type Service, startService } from '../../../server/test/support/service.ts'

/** The demo as a first start leaves it, with a browser in front. */
export interface Demo {
  service: Service
  /** Its data. */
  folder: string
  url: string
  /** The simulated platform, without a trailing slash. */
  simulatorUrl: string
  workspaceId: string
  apiKey: string
  signInUrl: string
  browser: Browser
  /** A browser of its own that is signed in as the demo's owner, at the given place of the workspace. */
  open(place?: string, options?: OpenOptions): Promise<Visit>
  /** Calls the team's interface as an operator. */
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape; a test fails where one is wrong
  team(method: string, path: string, body?: unknown): Promise<any>
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
}

export interface Visit {
  page: Page
  context: BrowserContext
  /** Errors of the page and its console, which a test wants empty at its end. */
  problems: string[]
}

export const desktop = { width: 1440, height: 900 }
export const phone = { width: 390, height: 844 }

let signedIn: Awaited<ReturnType<BrowserContext['storageState']>> | null = null

export async function openDemo(): Promise<Demo> {
  const [folder, port, simulatorPort] = [await newFolder(), await freePort(), await freePort()]
  const env = { PARLEY_DEMO: '1', PARLEY_SIMULATOR_PORT: String(simulatorPort), PARLEY_LEADS_RATE_LIMIT: '' }
  let service = await startService({ folder, port, env, args: ['--json'] })
  await service.hasTold('"signInUrl"')
  const start = JSON.parse(/^\{.*"signInUrl".*$/m.exec(service.told())?.[0] ?? '{}')
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--disable-background-networking'],
  })
  after(async () => {
    await browser.close()
    service.kill('SIGTERM')
    await service.gone
  })
  const url = service.url
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
    folder,
    url,
    simulatorUrl: new URL(start.phonesUrl).origin,
    workspaceId: start.workspaceId,
    apiKey: start.apiKey,
    signInUrl: start.signInUrl,
    browser,
    call,
    team: async (method, path, body) =>
      (await call(method, `/api/team/v1${path}`, body, { authorization: `Bearer ${operatorToken}` })).body,
    open: async (place = 'home', options = {}) => {
      const visit = await visitOf(browser, options, signedIn)
      if (signedIn === null) {
        await visit.page.goto(start.signInUrl)
        await visit.page.getByRole('button').first().click()
        await visit.page.getByRole('navigation').first().waitFor()
        signedIn = await visit.context.storageState()
      }
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

/** A browser of its own, signed in as nobody unless a state is given. */
export async function visitOf(
  browser: Browser,
  { viewport = desktop, colorScheme = 'light', language = 'en', reducedMotion = 'reduce' }: OpenOptions,
  storageState: typeof signedIn = null,
): Promise<Visit> {
  const context = await browser.newContext({
    viewport,
    colorScheme,
    reducedMotion,
    locale: language,
    timezoneId: 'America/Sao_Paulo',
    ...(storageState === null ? {} : { storageState }),
  })
  const page = await context.newPage()
  page.setDefaultTimeout(40_000)
  const problems: string[] = []
  page.on('pageerror', (error) => problems.push(error.message))
  page.on('console', (message) => {
    // A browser notes every answer that is a refusal; what the page makes of one is for the test to see.
    const isRefusal = /^Failed to load resource: .* status of 4\d\d/.test(message.text())
    if (message.type() === 'error' && !isRefusal) problems.push(message.text())
  })
  return { page, context, problems }
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** What is wrong with the page for people who cannot see it or use a mouse, of the serious kinds. */
export async function seriousIssues(page: Page): Promise<string[]> {
  await page.evaluate(axe)
  // biome-ignore lint/suspicious/noExplicitAny: the library has just been put there
  const { violations } = await page.evaluate(() => (globalThis as any).axe.run())
  return violations
    .filter(({ impact }: { impact: string }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }: { id: string; nodes: { html: string; failureSummary: string }[] }) =>
      nodes.map((node) => `${id}: ${node.html.slice(0, 160)} ${node.failureSummary.slice(0, 200)}`),
    )
}

/** Keeps a picture of the page in the folder that SCREENSHOTS names; does nothing without it. */
export async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env.SCREENSHOTS
  if (folder === undefined) return
  await mkdir(folder, { recursive: true })
  await page.screenshot({ path: join(folder, `${name}.png`) })
}
