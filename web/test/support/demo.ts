import { randomBytes } from 'node:crypto'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import type { Db } from '../../../server/src/base/db.ts'
import { databaseSettings, migratedDatabase } from '../../../server/test/support/database.ts'
import { atEnd, keptForProcess } from '../../../server/test/support/file-end.ts'
import { newFolder } from '../../../server/test/support/folder.ts'
import { freePort, operatorToken, startService } from '../../../server/test/support/program/service.ts'
import {
  closeAfterTest,
  launchBrowser,
  newContext,
  newVisit,
  type StorageState,
  type Visit,
  type VisitOptions,
  visitOf,
} from './browser.ts'

/** The demo as a first start leaves it, on a database of the tests, with a browser in front. */
export interface Demo {
  /** What its data are sealed with. */
  masterKey: Buffer
  db: Db
  url: string
  /** The simulated platform, without a trailing slash. */
  simulatorUrl: string
  workspaceId: string
  apiKey: string
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
  /** Makes an empty workspace whose owner is the demo's, and a key for it: for tests that change what all of it see. */
  newWorkspace(): Promise<Demo>
  /** Stops the service and starts it again on the same data, at the same address. */
  restart(): Promise<void>
}

export interface OpenOptions extends VisitOptions {
  /** In a browser that no other visit shares, signed in as the owner all the same: for a test that changes its clock. */
  isAlone?: boolean
  /** Stays open for the tests after this one. */
  isKept?: boolean
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
  const database = await migratedDatabase()
  const env = {
    ...databaseSettings(database),
    PARLEY_MASTER_KEY: masterKey.toString('base64'),
    PARLEY_DEMO: '1',
    PARLEY_SIMULATOR_PORT: String(simulatorPort),
    PARLEY_LEADS_RATE_LIMIT: '',
  }
  const browser = await launchBrowser()
  atEnd(() => browser.close())
  let service = await startService({ folder, port, env, args: ['--json'] })
  atEnd(async () => {
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
  const team: Demo['team'] = async (method, path, body, headers = {}) => {
    const asOperator = { authorization: `Bearer ${operatorToken}`, ...headers }
    return (await call(method, `/api/team/v1${path}`, body, asOperator)).body
  }
  const inWorkspace = (workspaceId: string, apiKey: string): Demo => ({
    masterKey,
    db: database.db,
    url,
    simulatorUrl: new URL(start.phonesUrl).origin,
    workspaceId,
    apiKey,
    browser,
    call,
    team,
    open: async (place = 'home', options = {}) => {
      const visit = await owner.visit(options)
      await visit.page.goto(`${url}/w/${workspaceId}/${place}`)
      await visit.page
        .getByRole('navigation')
        .first()
        .waitFor()
        .catch(async (error) => {
          throw new Error(`${visit.page.url()} shows ${await visit.page.locator('body').innerText()}`, { cause: error })
        })
      return visit
    },
    newWorkspace: async () => {
      const { id } = await owner.newWorkspace()
      const scopes = ['leads.read', 'leads.write', 'leads.delete', 'leads.bulk']
      const { value } = await team('POST', `/workspaces/${id}/keys`, { name: 'Demo key', scopes })
      return inWorkspace(id, value)
    },
    restart: async () => {
      service.kill('SIGTERM')
      await service.gone
      service = await startService({ folder, port, env })
    },
  })
  return inWorkspace(start.workspaceId, start.apiKey)
}

// The link brings one to where a password is chosen.
const laterWords = /^(Later|Depois|Más tarde)$/

/** The owner keeps one browser for each language: a new one would read and compile the whole app at each visit. */
function ownerOf(browser: Browser, url: string, signInUrl: string) {
  const browsers = new Map<string, { context: BrowserContext; keeper: Page }>()
  let signedIn: StorageState | undefined
  const browserFor = async (options: VisitOptions) => {
    const { language = 'en' } = options
    const found = browsers.get(language)
    if (found !== undefined) return found
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
    browsers.set(language, { context, keeper })
    return { context, keeper }
  }
  return {
    visit: async (options: OpenOptions): Promise<Visit> => {
      const { context, keeper } = await browserFor(options)
      if (options.isAlone) {
        const own = await newContext(browser, options, signedIn)
        closeAfterTest(own)
        return newVisit(own, options)
      }
      await keeper.evaluate('localStorage.clear()')
      await context.unrouteAll({ behavior: 'ignoreErrors' })
      const visit = await newVisit(context, options)
      if (!options.isKept) closeAfterTest(visit.page)
      return visit
    },
    newWorkspace: async (): Promise<{ id: string }> => {
      const { keeper } = await browserFor({})
      return (await callAs(keeper, 'POST', '/workspaces', { name: 'Tests' })).workspace
    },
  }
}

/** Calls the team's interface as whoever is signed in on the page. */
// biome-ignore lint/suspicious/noExplicitAny: answers of every shape; a test fails where one is wrong
export async function callAs(page: Page, method: string, path: string, body: object): Promise<any> {
  const { origin } = new URL(page.url())
  const api = `${origin}/api/team/v1`
  const { csrfToken } = await (await page.request.get(`${api}/session`)).json()
  const headers = { 'x-parley-csrf': csrfToken, origin }
  return (await page.request.fetch(`${api}${path}`, { method, headers, data: body })).json()
}

export interface Member extends Visit {
  email: string
}

/** That of each member whom a test makes. */
export const password = 'four plain words together'

/** Resolves when the page asks for a sign-in, of whose session somebody has ended. */
export async function signedOut(page: Page): Promise<void> {
  // It may be on its way there by itself, which ends the loading.
  await page.reload().catch(() => undefined)
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
}

/** Somebody new in the workspace, who has joined by their invitation in a browser of their own. */
export async function newMember(demo: Demo, name: string, role: 'member' | 'admin' = 'member'): Promise<Member> {
  const email = `${name.toLowerCase().replace(' ', '.')}@example.com`
  const { url } = await demo.team('POST', `/workspaces/${demo.workspaceId}/invitations`, { email, role })
  const visit = await visitOf(demo.browser)
  await visit.page.goto(url)
  await visit.page.getByLabel('Your name').fill(name)
  await visit.page.getByLabel('Password').fill(password)
  await visit.page.getByRole('button', { name: 'Join' }).click()
  await visit.page.getByRole('navigation', { name: 'Main' }).waitFor()
  return { ...visit, email }
}

/** On the page for signing in. */
export async function signIn(page: Page, email: string, word: string = password): Promise<void> {
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password').fill(word)
  await page.getByRole('button', { name: 'Sign in' }).click()
}
