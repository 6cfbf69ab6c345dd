import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertAccessible } from './support/accessibility.ts'
import { openDemo } from './support/demo.ts'
import { downloadedLines } from './support/transfer.ts'

const demo = await openDemo()

test('the home page tells what is new while it is open', async () => {
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
  await page.getByText('in 7 days').waitFor()
})

test('what is the matter leads to where it is mended', async () => {
  await demo.team('PATCH', `/workspaces/${demo.workspaceId}`, { agentsStopped: true, dailyLeadQuota: 1 })
  const { page } = await demo.open('home')
  await page.getByRole('link', { name: /lead limit is reached/ }).waitFor()
  await assertAccessible(page)
  await page.getByRole('link', { name: /All agents are stopped/ }).click()
  await page.getByRole('heading', { name: 'Agents', exact: true }).waitFor()
  await demo.team('PATCH', `/workspaces/${demo.workspaceId}`, { agentsStopped: false, dailyLeadQuota: 0 })
})

test('a fresh workspace, made by an operator, shows a short way to begin', async () => {
  const { page } = await demo.open('settings/workspaces')
  await page.getByRole('button', { name: 'New workspace' }).click()
  await page.getByRole('dialog').getByLabel('Name').fill('Second shop')
  await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click()
  await page.getByRole('button', { name: 'Second shop' }).click()
  const begin = page.getByRole('region', { name: 'Getting started' })
  await begin.waitFor()
  await assertAccessible(page)
  await begin.getByRole('link', { name: 'Go to API keys' }).click()
  await page.getByRole('heading', { name: 'API keys' }).waitFor()
  await page.goBack()
  await begin.getByRole('button', { name: 'Dismiss' }).click()
  await begin.waitFor({ state: 'detached' })
  await page.reload()
  await page.getByText('Nothing needs your attention right now.').waitFor()
  assert.equal(await begin.count(), 0)
})

test('the home page stands beside the time before, by who answered and where, and gives files of it', async () => {
  const { page } = await demo.open('home')
  const groups = page.getByRole('region', { name: 'First answers' })
  await groups.getByText('The last 30 days beside the 30 days before.').waitFor()
  await groups.getByRole('radiogroup', { name: 'Group by' }).getByText('Connection').click()
  await groups.getByRole('table', { name: 'First answers: Connection' }).getByRole('row').nth(1).waitFor()
  await page.getByRole('button', { name: 'CSV' }).click()
  const days = await downloadedLines(page, () => page.getByRole('menuitem', { name: 'By day' }).click())
  assert.equal(days.length, 31)
  assert.match(days[0] ?? '', /^"Date","Leads","People: Answers"/)
})
