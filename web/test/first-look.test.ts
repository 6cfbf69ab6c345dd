import assert from 'node:assert/strict'
import { readFileSync, statSync } from 'node:fs'
import { test } from 'node:test'
import type { CDPSession, Page } from 'playwright-core'
import { until } from './support/composing.ts'
import { openDemo, type Visit } from './support/demo.ts'

const demo = await openDemo()
const [mostRequests, mostBytes] = [25, 180_000]
const aMoment = 1000

interface Fetched {
  url: string
  method: string
  bytes: number
}

/** A visit by a browser that has nothing of the app, before it goes anywhere. */
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

const rowsOf = (page: Page, room: 'inbox' | 'leads') =>
  room === 'inbox' ? page.locator('[data-row]') : page.getByRole('row').nth(1)

for (const [room, language] of [
  ['inbox', 'en'],
  ['inbox', 'pt'],
  ['leads', 'en'],
] as const)
  test(`until the rows of ${room} are there, ${mostRequests} requests at most and 180 KB, in ${language}`, async (t) => {
    const { page, fetched, problems } = await coldVisit(language)
    await page.goto(`${demo.url}/w/${demo.workspaceId}/${room}`)
    await rowsOf(page, room).first().waitFor()
    const until = [...fetched]
    const bytes = until.reduce((sum, one) => sum + one.bytes, 0)
    const list = until.map((one) => `${one.bytes} ${one.url.replace(demo.url, '')}`).join('\n')
    t.diagnostic(`${until.length} requests, ${bytes} bytes`)
    assert.ok(until.length <= mostRequests && bytes <= mostBytes, `${until.length} requests, ${bytes} bytes:\n${list}`)
    assert.deepEqual(problems, [])
  })

test('nothing is fetched twice while the app opens, nor what is on its way asked for again', async () => {
  for (const place of ['inbox', 'home', 'leads', 'inbox?view=mine']) {
    const { page, fetched } = await coldVisit()
    await page.goto(`${demo.url}/w/${demo.workspaceId}/${place}`)
    await page.waitForLoadState('load')
    await settled(page, fetched)
    const seen = fetched.filter(({ method }) => method === 'GET').map(({ url }) => url.replace(demo.url, ''))
    assert.deepEqual(
      seen.filter((url, n) => seen.indexOf(url) !== n),
      [],
      place,
    )
    assert.ok(seen.some((url) => url === '/api/team/v1/session'))
  }
})

/** Resolves once nothing has come for a while. */
async function settled(page: Page, fetched: readonly Fetched[]): Promise<void> {
  for (let before = -1; before !== fetched.length; await page.waitForTimeout(aMoment)) before = fetched.length
}

test('the app shows its shape while no file of it has come, in the scheme that was chosen', async () => {
  const { page, context } = await coldVisit()
  await context.route(/\/assets\//, () => {})
  await page.emulateMedia({ colorScheme: 'light' })
  await page.goto(`${demo.url}/w/${demo.workspaceId}/inbox`, { waitUntil: 'commit' })
  const paints = () => page.evaluate(() => performance.getEntriesByName('first-contentful-paint').length)
  await until(paints, (count) => count === 1)
  const paper = () => page.locator('.shell').evaluate((shell) => getComputedStyle(shell).backgroundColor)
  assert.equal(await paper(), 'rgb(248, 249, 251)')
  await context.addCookies([{ name: 'parley_scheme', value: 'dark', url: demo.url }])
  await page.goto(`${demo.url}/w/${demo.workspaceId}/inbox`, { waitUntil: 'commit' })
  await until(paper, (colour) => colour === 'rgb(18, 22, 30)')
})

test('a scheme that was chosen is known to the service from then on', async () => {
  const { page, context } = await demo.open('home', { isAlone: true })
  await page.getByRole('button', { name: /^You/ }).click()
  await page.getByRole('menuitem', { name: 'Dark' }).click()
  const chosen = async () => (await context.cookies()).find(({ name }) => name === 'parley_scheme')?.value
  await until(chosen, (value) => value === 'dark')
  const shell = await (await context.request.get(`${demo.url}/w/${demo.workspaceId}/home`)).text()
  assert.match(shell, /<html[^>]* data-mantine-color-scheme="dark"/)
})

test('the font is of 60 KB at most, takes the place of another, and has figures of one width', async () => {
  const file = new URL('../src/app/inter.woff2', import.meta.url)
  assert.ok(statSync(file).size <= 60_000)
  const licence = readFileSync(new URL('../dist/inter-licence.txt', import.meta.url), 'utf8')
  assert.match(licence, /SIL OPEN FONT LICENSE Version 1\.1/i)
  const { page } = await demo.open('inbox')
  await page.evaluate(() => document.fonts.ready)
  const widths = await page.evaluate(() => {
    const widthOf = (text: string) => {
      const span = document.createElement('span')
      span.textContent = text
      document.body.append(span)
      const { width } = span.getBoundingClientRect()
      span.remove()
      return width
    }
    const font = [...document.fonts].find(({ family, status }) => family.includes('Inter') && status === 'loaded')
    return { isThere: font !== undefined, display: font?.display, one: widthOf('1111'), zero: widthOf('0000') }
  })
  assert.deepEqual([widths.isThere, widths.display], [true, 'swap'])
  assert.equal(widths.one, widths.zero)
})

test('whoever comes by keyboard goes past the rail and past the list', async () => {
  const { page } = await demo.open('inbox')
  await page.locator('[data-row]').first().click()
  await page
    .getByLabel(/^Conversation with/)
    .first()
    .waitFor()
  await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur())
  await page.evaluate(() => document.body.focus())
  const placeOf = () =>
    page.evaluate(() => document.activeElement?.closest('[data-skip-to]')?.getAttribute('data-skip-to'))
  await page.getByRole('link', { name: 'Skip to the page' }).focus()
  await page.keyboard.press('Enter')
  assert.equal(await placeOf(), 'page')
  await page.keyboard.press('Tab')
  await page.getByRole('link', { name: 'Skip to the conversation' }).press('Enter')
  assert.equal(await placeOf(), 'thread')
})
