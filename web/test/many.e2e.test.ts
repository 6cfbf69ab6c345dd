import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fillConversations, fillLeads, fillMessages } from '../../bench/fill.ts'
import { systemClock } from '../../server/src/base/clock.ts'
import { openKeyStore } from '../../server/src/base/encryption/key-store.ts'
import { waitUntil } from './support/composing.ts'
import { openDemo } from './support/demo.ts'
import { newCustomer } from './support/inbox.ts'
import { describeScrolling, measureScrolling } from './support/scrolling.ts'

const demo = await openDemo()
const [manyConversations, manyLeads, deep] = [50_000, 20_000, 3000]
const isFirst = /\/inbox\/conversations\?(?!.*(cursor|updatedAfter)=)/

const at = `/workspaces/${demo.workspaceId}`
const { connections } = await demo.team('GET', `${at}/connections`)
const { keys } = await demo.team('GET', `${at}/keys`)
{
  const { db, masterKey, workspaceId } = demo
  const keyring = await openKeyStore(db, { current: masterKey }, systemClock).keyring(workspaceId)
  const filling = { db, keyring, workspaceId, now: new Date() }
  const numbers = { connectionId: connections[0].id, keyId: keys[0].id, count: manyConversations }
  const ids = await fillConversations(filling, numbers)
  await fillMessages(filling, connections[0].id, ids.slice(0, deep), 1)
  await fillLeads(filling, manyLeads)
  await db.sql`analyze`
}

test('a list of 50,000 conversations scrolls as fast after thousands of rows as at its start', async (t) => {
  const { page } = await demo.open('home')
  // The list is refetched when the stream opens, up to a thousand rows.
  const readAgain = page.waitForResponse(isFirst).then(() => page.waitForResponse(isFirst))
  await page.goto(`${demo.url}/w/${demo.workspaceId}/inbox?status=any`)
  await readAgain
  const pane = page.getByRole('region', { name: 'Conversations' })
  const rows = pane.getByRole('listitem')
  const box = pane.locator('ul').locator('..')
  await rows.nth(5).waitFor()
  const above = await measureScrolling(page, box)
  t.diagnostic(`from the top: ${describeScrolling(above)}`)
  assert.ok((await rows.count()) < 40)

  // Scrolls down until thousands are loaded.
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
  const below = await measureScrolling(page, box)
  t.diagnostic(`among ${deep} rows: ${describeScrolling(below)}`)
  assert.equal(below.stalledFrames, 0)
  // The cost must not grow with the number of rows.
  assert.ok(below.workMs < 1.5 * above.workMs + 4)
  assert.ok((await rows.count()) < 40)

  // Rows that arrive above leave visible rows in place, and are on top after scrolling up.
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
  const after = await waitUntil(placeInBox, ({ at }) => at !== before.at)
  assert.deepEqual(after, { top: before.top, at: before.at + 64 })
  await box.evaluate((element) => element.scrollTo({ top: 0 }))
  await rows.first().getByText('Boa tarde!').waitFor()
})

test('a table of 20,000 leads scrolls with few rendered rows, an exact count, and direct access to any part', async (t) => {
  const { page } = await demo.open('leads')
  const { total } = await demo.team('GET', `${at}/leads?limit=1`)
  assert.ok(total >= manyLeads)
  await page
    .getByRole('status')
    .getByText(`${total.toLocaleString('en')} leads`, { exact: true })
    .waitFor()
  await page.locator('[data-row="0"]').getByRole('button').first().waitFor()
  const scrolling = await measureScrolling(page, page.getByRole('grid'))
  t.diagnostic(describeScrolling(scrolling))
  assert.equal(scrolling.stalledFrames, 0)
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
  // Only the in-memory index finds these rows; it is built meanwhile.
  await waitUntil(() => demo.team('GET', `${at}/leads?limit=1&search=Silva%2012345`), { total: 1 })
  await page.getByRole('searchbox').fill('Silva 12345')
  await page.getByRole('status').getByText('1 lead', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Ana Silva 12345' }).waitFor()
})
