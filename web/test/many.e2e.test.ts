import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Route } from 'playwright-core'
import { fillConversations, fillLeads, fillMessages } from '../../server/test/support/fill.ts'
import { pickItem } from './support/actions.ts'
import { letLoadingFail } from './support/browser.ts'
import { until } from './support/composing.ts'
import { openDemo } from './support/demo.ts'
import { fillDemo } from './support/fill.ts'
import { newCustomer } from './support/inbox.ts'
import { scrolled, told } from './support/scrolling.ts'

const demo = await openDemo()
const [manyConversations, manyLeads, deep] = [50_000, 20_000, 3000]

const at = `/workspaces/${demo.workspaceId}`
const { connections } = await demo.team('GET', `${at}/connections`)
const { keys } = await demo.team('GET', `${at}/keys`)
await fillDemo(demo, async (filling) => {
  const numbers = { connectionId: connections[0].id, keyId: keys[0].id, count: manyConversations }
  const ids = await fillConversations(filling, numbers)
  await fillMessages(filling, connections[0].id, ids.slice(0, deep), 1)
  await fillLeads(filling, manyLeads)
  await filling.db.sql`analyze`
})

test('a list of 50,000 conversations scrolls as fast at its beginning as thousands of rows further down', async (t) => {
  const { page } = await demo.open('home')
  // The list is read once more when the stream is open, and then no further than a thousand rows.
  const readAgain = page.waitForResponse(isFirst).then(() => page.waitForResponse(isFirst))
  await page.goto(`${demo.url}/w/${demo.workspaceId}/inbox?status=any`)
  await readAgain
  const pane = page.getByRole('region', { name: 'Conversations' })
  const rows = pane.getByRole('listitem')
  const box = pane.locator('ul').locator('..')
  await rows.nth(5).waitFor()
  const above = await scrolled(page, box)
  t.diagnostic(`from the top: ${told(above)}`)
  assert.ok((await rows.count()) < 40)

  // Down to where thousands have been read.
  const started = Date.now()
  await box.evaluate(async (element, deep) => {
    const { requestAnimationFrame } = globalThis as unknown as { requestAnimationFrame(run: () => void): void }
    while (element.scrollHeight < deep * 64) {
      element.scrollTop = element.scrollHeight
      await new Promise<void>((resolve) => requestAnimationFrame(resolve))
    }
  }, deep)
  t.diagnostic(`${deep} rows were read after ${Date.now() - started} ms`)
  await box.evaluate((element) => element.scrollTo({ top: element.scrollHeight / 2 }))
  const below = await scrolled(page, box)
  t.diagnostic(`among ${deep} rows: ${told(below)}`)
  assert.equal(below.stood, 0)
  // A few times as many rows must not cost a few times as much.
  assert.ok(below.workMs < 1.5 * above.workMs + 4)
  assert.ok((await rows.count()) < 40)

  // What comes in above leaves the rows in sight where they are, and is on top when one goes there.
  const id = await rows.nth(12).getByRole('link').getAttribute('data-row')
  const placeInBox = () =>
    box.evaluate((element, id) => {
      const row = element.querySelector(`[data-row="${id}"]`)
      return {
        top: row && row.getBoundingClientRect().top - element.getBoundingClientRect().top,
        at: element.scrollTop,
      }
    }, id)
  const before = await placeInBox()
  const rita = await newCustomer(demo, 'Rita Sousa', '5521955502001')
  await rita.says('Boa tarde!')
  const after = await until(placeInBox, ({ at }) => at !== before.at)
  assert.deepEqual(after, { top: before.top, at: before.at + 64 })
  await box.evaluate((element) => element.scrollTo({ top: 0 }))
  await rows.first().getByText('Boa tarde!').waitFor()
})

test('a list that is read again leaves where they are those who have scrolled down', async () => {
  const { page } = await demo.open('home')
  const stream = newGate()
  await page.route(/\/live$/, stream.pass)
  await page.goto(`${demo.url}/w/${demo.workspaceId}/inbox?status=any`)
  const box = page.getByRole('region', { name: 'Conversations' }).locator('ul').locator('..')
  await box.evaluate((element) => element.scrollTo({ top: element.scrollHeight }))
  const height = () => box.evaluate((element) => element.scrollHeight)
  await until(height, (height) => height > 100 * 64)
  const place = () => box.evaluate((element) => element.scrollTop)
  await box.evaluate((element) => element.scrollTo({ top: 110 * 64 }))
  const before = await place()
  // More changed than it could have missed.
  const readAgain = page.waitForResponse(isFirst).then(() => page.waitForResponse(isNext))
  stream.open()
  await readAgain
  assert.equal(await place(), before)
})

test('the list goes on at its end though it was read again just as its next page came', async () => {
  const { page } = await demo.open('home')
  const [stream, first, next] = [newGate(), newGate(), newGate()]
  await page.route(/\/live$/, stream.pass)
  await page.route(isNext, next.pass)
  await page.goto(`${demo.url}/w/${demo.workspaceId}/inbox?status=any`)
  const pane = page.getByRole('region', { name: 'Conversations' })
  await pane.getByRole('listitem').nth(5).waitFor()
  await page.route(isFirst, first.pass)
  const box = pane.locator('ul').locator('..')
  await box.evaluate((element) => element.scrollTo({ top: element.scrollHeight }))
  await next.reached
  stream.open()
  await first.reached
  // Both answers come while the page does something else, and it hears of them at once.
  const busy = page.evaluate((ms) => {
    for (const end = Date.now() + ms; Date.now() < end; );
  }, 1500)
  next.open()
  first.open()
  await busy
  await until(
    () => box.evaluate((element) => element.scrollHeight),
    (height) => height > 100 * 64,
  )
})

test('rows that did not come are asked for again', async () => {
  const { page } = await demo.open('home')
  letLoadingFail(page)
  let asked = 0
  await page.route(/\/inbox\/conversations\?.*cursor=/, (route) => (asked++ === 0 ? route.abort() : route.continue()))
  await page.goto(`${demo.url}/w/${demo.workspaceId}/inbox?status=any`)
  const box = page.getByRole('region', { name: 'Conversations' }).locator('ul').locator('..')
  await box.evaluate((element) => element.scrollTo({ top: element.scrollHeight }))
  await until(
    () => box.evaluate((element) => element.scrollHeight),
    (height) => height > 60 * 64,
  )
  assert.ok(asked > 1)
})

test('a table of 20,000 leads scrolls, with a few rows drawn, an exact count and any part at once', async (t) => {
  const { page } = await demo.open('leads')
  const { total } = await demo.team('GET', `${at}/leads?limit=1`)
  assert.ok(total >= manyLeads)
  await page
    .getByRole('status')
    .getByText(`${total.toLocaleString('en')} leads`, { exact: true })
    .waitFor()
  await page.locator('[data-row="0"]').getByRole('button').first().waitFor()
  const scrolling = await scrolled(page, page.getByRole('grid'))
  t.diagnostic(told(scrolling))
  assert.equal(scrolling.stood, 0)
  assert.ok((await page.getByRole('row').count()) < 80)
  const started = Date.now()
  await page.getByRole('grid').focus()
  await page.keyboard.press('End')
  await page
    .locator(`[data-row="${total - 1}"]`)
    .getByRole('button')
    .waitFor()
  t.diagnostic(`the last of ${total} rows was there after ${Date.now() - started} ms`)
  await page.keyboard.press('Home')
  await page.locator('[data-row="0"]').getByRole('button').waitFor()
  await page.getByRole('searchbox').fill('Silva 12345')
  await page.getByRole('status').getByText('1 lead', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Ana Silva 12345' }).waitFor()
})

test('a board of 20,000 leads shows exact counts and draws further cards when it is scrolled', async () => {
  const { page } = await demo.open('leads?view=board')
  const { columns } = await demo.team('GET', `${at}/leads/board`)
  const column = page.getByRole('region', { name: 'Leads: New' })
  await column.getByText(columns[0].count.toLocaleString('en'), { exact: true }).waitFor()
  await column.getByRole('button').nth(49).waitFor({ state: 'attached' })
  await column.getByRole('list').evaluate((list) => list.scrollTo({ top: list.scrollHeight }))
  await column.getByRole('button').nth(99).waitFor({ state: 'attached' })
})

test('all that a list shows are changed though the page is closed, and it says how far it is when somebody comes back', async () => {
  const bulkChanges = `${at}/lead-bulk-changes`
  const list = `${at}/leads`
  const lows = async () => (await demo.team('GET', `${list}?limit=1&priority=low`)).total as number
  const before = await lows()
  const { total } = await demo.team('GET', `${list}?limit=1&priority=medium&status=contacted`)
  const shown = total.toLocaleString('en')
  const { page } = await demo.open('leads?priority=medium&status=contacted')
  await page.locator('[data-row="0"]').getByRole('button').first().waitFor()
  await page.getByRole('grid').focus()
  await page.keyboard.press('Control+a')
  await page
    .getByRole('region', { name: '2,000 selected' })
    .getByRole('button', { name: `Select all ${shown}` })
    .click()
  const bar = page.getByRole('region', { name: `${shown} selected` })
  await pickItem(bar.getByRole('button', { name: 'Priority' }), { name: 'Low' })
  await page.getByRole('button', { name: `Change ${shown} leads` }).click()
  const strip = page.getByRole('region', { name: 'Bulk changes' })
  await strip.getByText('Priority: Low').waitFor()
  await page.goto('about:blank')
  const change = async () => (await demo.team('GET', bulkChanges)).bulkChanges[0]
  await until(change, ({ changed, state }) => changed > 0 || state === 'done')
  await page.goto(`${demo.url}/w/${demo.workspaceId}/leads/changes`)
  const line = page.getByRole('row', { name: /Priority: Low/ })
  await line.getByText(`${shown} leads changed.`).waitFor({ timeout: 120_000 })
  assert.equal(await lows(), before + total)
  await line.getByRole('button', { name: 'Undo' }).click()
  await line.getByText(/Undoing/).waitFor()
  await line.getByText(`Undone for ${shown} leads.`).waitFor({ timeout: 120_000 })
  assert.equal(await lows(), before)
})

const isFirst = /\/inbox\/conversations\?(?!.*(cursor|updatedAfter)=)/
const isNext = /\/inbox\/conversations\?.*cursor=/

/** Keeps requests back until it is opened. */
function newGate() {
  const [come, opened] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const pass = async (route: Route) => {
    come.resolve()
    await opened.promise
    await route.continue()
  }
  return { pass, reached: come.promise, open: opened.resolve }
}
