import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertAccessible } from './support/accessibility.ts'
import { openDemo } from './support/demo.ts'

const demo = await openDemo()

test('a new demo starts with a hint and no alert, shows counts with percentages, and says where data is missing', async () => {
  const { page } = await demo.open('home')
  const attention = page.getByRole('region', { name: 'Needs attention' })
  const hint = attention.getByRole('link', { name: /^Tip QR demo isn’t set up yet/ })
  await hint.waitFor()
  assert.equal(await attention.getByRole('img', { name: 'Problem' }).count(), 0)
  const figure = (name: string) => page.locator('dl > div', { hasText: name })
  await figure('New leads')
    .getByText(/^Up from \d+ in the previous 30 days \(\+\d+%\)$/)
    .waitFor()
  await figure('Team replies in').getByText('No data yet').waitFor()
  await assertAccessible(page)
  await hint.click()
  await page.waitForURL(/\/connections\//)
  // A phone that was linked before and is not now is a problem.
  await demo.db.sql`update connections set state_reason = 'logged_out' where name = 'QR demo'`
  await page.goto(`${demo.url}/w/${demo.workspaceId}/home`)
  await attention.getByRole('link', { name: /^Problem QR demo can’t send or receive messages/ }).waitFor()
})

test('the home page updates while it is open', async () => {
  const { page } = await demo.open('home')
  const today = page.locator('dl > div', { hasText: 'Today' }).getByRole('definition').first()
  await today.waitFor()
  const before = Number(await today.innerText())
  const lead = { firstName: 'Rosa', phone: '+5511988887777', source: 'website' }
  const made = await demo.call('POST', '/api/v1/leads', lead, { authorization: `Bearer ${demo.apiKey}` })
  assert.equal(made.status, 201)
  await page
    .locator('dl > div', { hasText: 'Today' })
    .getByText(String(before + 1), { exact: true })
    .waitFor()
  await page.getByText('7 days').click()
  await page.waitForURL(/days=7/)
  await page.getByText('in the last 7 days').waitFor()
})

test('a new workspace created by an operator shows a getting-started list', async () => {
  const { page } = await demo.open('settings/workspaces')
  await page.getByRole('button', { name: 'New workspace' }).click()
  await page.getByRole('dialog').getByLabel('Name').fill('Second shop')
  await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click()
  await page.getByRole('button', { name: 'Second shop' }).click()
  const begin = page.getByRole('region', { name: 'Get started' })
  await begin.waitFor()
  await assertAccessible(page)
  await begin.getByRole('link', { name: 'Go to API keys' }).click()
  await page.getByRole('heading', { name: 'API keys', exact: true }).waitFor()
  await page.goBack()
  await begin.getByRole('button', { name: 'Dismiss' }).click()
  await begin.waitFor({ state: 'detached' })
  await page.reload()
  await page.getByText('Nothing needs your attention right now.').waitFor()
  assert.equal(await begin.count(), 0)
})
