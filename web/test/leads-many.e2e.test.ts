import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from './support/composing.ts'
import { openDemo } from './support/demo.ts'
import { scrolled, told } from './support/scrolling.ts'

const demo = await openDemo()
const many = 20_000
const perCall = 100

await demo.team('PATCH', `/workspaces/${demo.workspaceId}`, { dailyLeadQuota: null })
const calls = Array.from({ length: many / perCall }, (_, n) => n)
await Promise.all(
  Array.from({ length: 4 }, async () => {
    for (let call = calls.pop(); call !== undefined; call = calls.pop()) {
      const items = Array.from({ length: perCall }, (_, n) => ({
        match: { by: 'externalRef', value: `many-${Number(call) * perCall + n}` },
        lead: { firstName: 'Lead', lastName: `Number ${Number(call) * perCall + n}`, estimatedValue: n },
      }))
      const { status } = await demo.call(
        'POST',
        '/api/v1/leads/bulk-upsert',
        { items },
        {
          authorization: `Bearer ${demo.apiKey}`,
        },
      )
      assert.equal(status, 200)
    }
  }),
)

test('a table of 20,000 leads scrolls, with a few rows drawn, an exact count and any part at once', async (t) => {
  const { page, problems } = await demo.open('leads')
  const { total } = await demo.team('GET', `/workspaces/${demo.workspaceId}/leads?limit=1`)
  assert.ok(total >= many)
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
  await page.getByRole('searchbox').fill('Number 12345')
  await page.getByRole('status').getByText('1 lead', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Lead Number 12345' }).waitFor()
  assert.deepEqual(problems, [])
})

test('a board of 20,000 leads shows exact counts and draws further cards when it is scrolled', async () => {
  const { page, problems } = await demo.open('leads?view=board')
  const { columns } = await demo.team('GET', `/workspaces/${demo.workspaceId}/leads/board`)
  const column = page.getByRole('region', { name: 'Leads: New' })
  await column.getByText(columns[0].count.toLocaleString('en'), { exact: true }).waitFor()
  await column.getByRole('button').nth(49).waitFor({ state: 'attached' })
  await column.getByRole('list').evaluate((list) => list.scrollTo({ top: list.scrollHeight }))
  await column.getByRole('button').nth(99).waitFor({ state: 'attached' })
  assert.deepEqual(problems, [])
})

test('all that a list shows are changed though the page is closed, and it says how far it is when somebody comes back', async () => {
  const bulkChanges = `/workspaces/${demo.workspaceId}/lead-bulk-changes`
  const list = `/workspaces/${demo.workspaceId}/leads`
  const lows = async () => (await demo.team('GET', `${list}?limit=1&priority=low`)).total as number
  const before = await lows()
  const { total } = await demo.team('GET', `${list}?limit=1&priority=medium`)
  const shown = total.toLocaleString('en')
  const { page, problems } = await demo.open('leads?priority=medium')
  await page.locator('[data-row="0"]').getByRole('button').first().waitFor()
  await page.getByRole('grid').focus()
  await page.keyboard.press('Control+a')
  await page
    .getByRole('region', { name: '2,000 selected' })
    .getByRole('button', { name: `Select all ${shown}` })
    .click()
  const bar = page.getByRole('region', { name: `${shown} selected` })
  await bar.getByRole('button', { name: 'Priority' }).click()
  await page.getByRole('menuitem', { name: 'Low' }).click()
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
  assert.deepEqual(problems, [])
})
