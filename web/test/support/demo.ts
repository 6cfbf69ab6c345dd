import { randomBytes } from 'node:crypto'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import type { Db } from '../../../server/src/base/db.ts'
import { databaseSettings, migratedDatabase } from '../../../server/test/support/database.ts'
import { atEnd, keepForProcess } from '../../../server/test/support/file-lifecycle.ts'
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

/** The demo as created on first start, on a test database, with a browser. */
export interface Demo {
  /** Master key of its data. */
  masterKey: Buffer
  db: Db
  url: string
  /** Address of the simulator, without a trailing slash. */
  simulatorUrl: string
  workspaceId: string
  apiKey: string
  browser: Browser
  /** Opens a page of the workspace as the demo's owner, in a context without stored preferences. */
  open(place?: string, options?: OpenOptions): Promise<Visit>
  /** Calls the team API as an operator. */
  // biome-ignore lint/suspicious/noExplicitAny: responses have any shape; a test fails if one is wrong
  team(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<any>
  /** Calls the API for keys, or the simulator if given its address. */
  call(
    method: string,
    url: string,
    body?: unknown,
    headers?: Record<string, string>,
    // biome-ignore lint/suspicious/noExplicitAny: as above
  ): Promise<{ status: number; body: any }>
  /** Creates an empty workspace of the same owner, with a key, for tests that change what everyone sees. */
  newWorkspace(): Promise<Demo>
  /** Stops the server and starts it again with the same data and address. */
  restart(): Promise<void>
}

export interface OpenOptions extends VisitOptions {
  /** In a context that no other visit shares, for tests that change its clock. */
  isAlone?: boolean
  /** Stays open for later tests. */
  isKept?: boolean
}

let shared: Demo | undefined

/**
 * Returns the demo shared by all test files of this process, for tests that do not depend on its initial state, and
 * leave nothing behind that affects others except leads and customers of their own.
 */
export async function sharedDemo(): Promise<Demo> {
  // The test runner would attribute work awaited from another file's promise to that file.
  shared ??= await keepForProcess(openDemo)
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
    // A killed process does not save its compile cache, so the next one would compile everything again.
    service.kill('SIGTERM')
    await service.exited
  })
  await service.hasPrinted('"signInUrl"')
  const start = JSON.parse(/^\{.*"signInUrl".*$/m.exec(service.output())?.[0] ?? '{}')
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
      await service.exited
      service = await startService({ folder, port, env })
    },
  })
  return inWorkspace(start.workspaceId, start.apiKey)
}

// The link leads to a page that asks for a password.
const laterWords = /^(Skip for now|Pular por enquanto|Omitir por ahora)$/

/** Keeps one context of the owner for each language: a new one would load and compile the whole app on each visit. */
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
    // While a page of the site is open, new ones start in its process.
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

/** Calls the team API as the person signed in on the page. */
// biome-ignore lint/suspicious/noExplicitAny: responses have any shape; a test fails if one is wrong
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

/** Password of members that tests create. */
export const password = 'four plain words together'

/** Resolves when the page asks for sign-in, after its session was ended. */
export async function signedOut(page: Page): Promise<void> {
  // It may already be navigating, which aborts the reload.
  await page.reload().catch(() => undefined)
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
}

/** Creates a member who has accepted an invitation, in a separate context. */
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

/** Fills in the sign-in page. */
export async function signIn(page: Page, email: string, word: string = password): Promise<void> {
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password').fill(word)
  await page.getByRole('button', { name: 'Sign in' }).click()
}
