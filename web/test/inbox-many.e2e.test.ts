import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Route } from 'playwright-core'
import { fillConversations, fillMessages } from '../../server/test/support/fill.ts'
import { until } from './support/composing.ts'
import { openDemo } from './support/demo.ts'
import { fillDemo } from './support/fill.ts'
import { newCustomer } from './support/inbox.ts'
import { scrolled, told } from './support/scrolling.ts'

const demo = await openDemo()
const many = 50_000
const deep = 3000

const { connections } = await demo.team('GET', `/workspaces/${demo.workspaceId}/connections`)
const { keys } = await demo.team('GET', `/workspaces/${demo.workspaceId}/keys`)
await fillDemo(demo, async (filling) => {
  const ids = await fillConversations(filling, { connectionId: connections[0].id, keyId: keys[0].id, count: many })
  await fillMessages(filling, connections[0].id, ids.slice(0, deep), 1)
  await filling.db.sql`analyze`
})

test('a list of 50,000 conversations scrolls as fast at its beginning as thousands of rows further down', async (t) => {
  const { page, problems } = await demo.open('home')
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
  assert.deepEqual(problems, [])
})

test('a list that is read again leaves where they are those who have scrolled down', async () => {
  const { page, problems } = await demo.open('home')
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
  assert.deepEqual(problems, [])
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

test('rows that did not come are asked for again', async () => {
  const { page } = await demo.open('home')
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
