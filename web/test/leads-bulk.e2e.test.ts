import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { pickItem } from './support/actions.ts'
import { sharedDemo } from './support/demo.ts'

const demo = await sharedDemo()
const leads = `/workspaces/${demo.workspaceId}/leads`
const shows = (page: Page, text: string) => page.getByRole('status').getByText(text, { exact: true }).waitFor()
const total = async () => (await demo.team('GET', `${leads}?limit=1`)).total as number

test('many leads are changed at once after confirmation, and deleted ones restored by undo and from the trash', async () => {
  const { page } = await demo.open('leads')
  const before = await total()
  const urgentNow = async () => (await demo.team('GET', `${leads}?limit=1&priority=urgent`)).total
  const urgent = await urgentNow()
  await shows(page, `${before} leads`)
  await page.keyboard.press('j')
  for (const key of ['x', 'j', 'x']) await page.keyboard.press(key)
  await page
    .getByRole('checkbox', { name: /^Select (?!all)/ })
    .nth(4)
    .click({ modifiers: ['Shift'] })
  const bar = page.getByRole('region', { name: '4 selected' })
  assert.ok(((await bar.boundingBox())?.height ?? 99) < 60, 'what can be done stands in one line')
  await pickItem(bar.getByRole('button', { name: 'Priority' }), { name: 'Urgent' })
  const ask = page.getByRole('dialog', { name: 'Change 4 leads?' })
  await ask.getByText('Priority: Urgent').waitFor()
  assert.equal(await urgentNow(), urgent, 'nothing is changed before the person confirms')
  await ask.getByRole('button', { name: 'Change 4 leads' }).click()
  const strip = page.getByRole('region', { name: 'Bulk changes' })
  await strip.getByRole('status').filter({ hasText: 'Priority: Urgent 4 leads changed.' }).waitFor()
  assert.equal(await urgentNow(), urgent + 4)
  await strip.getByRole('button', { name: 'Undo' }).click()
  await strip.getByRole('status').filter({ hasText: 'Priority: Urgent Undone for 4 leads.' }).waitFor()
  assert.equal(await urgentNow(), urgent)

  await page.getByRole('searchbox', { name: 'Search leads' }).fill('reuter')
  await shows(page, '1 lead')
  await page.getByRole('button', { name: 'Jonas Reuter' }).click()
  const panel = page.getByRole('complementary', { name: 'Lead Jonas Reuter' })
  await panel.getByRole('button', { name: 'Delete' }).click()
  await page.getByText('No leads match these filters.').waitFor()
  await page.getByRole('img', { name: 'Trash' }).click()
  await page
    .getByRole('row', { name: /Jonas Reuter/ })
    .getByRole('button', { name: 'Restore' })
    .click()
  await page.getByText('Jonas Reuter restored').waitFor()
  assert.equal(await total(), before)
})
