import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertAccessible } from './support/accessibility.ts'
import { openDemo } from './support/demo.ts'

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
