import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { assertAccessible, fitsPhone } from './support/accessibility.ts'
import { newWriter, type Writer, waitUntil } from './support/composing.ts'
import { newMember, openDemo } from './support/demo.ts'

const demo = await openDemo()
const workspace = `/workspaces/${demo.workspaceId}`

/** A customer whose conversation was answered and closed, as the reports have counted. */
async function closedConversation(name: string): Promise<Writer> {
  const writer = await newWriter(demo, name, 'Where is my order?')
  const path = `${workspace}/inbox/conversations/${writer.id}`
  const key = { 'idempotency-key': `answer ${name}` }
  await demo.team('POST', `${path}/messages`, { kind: 'text', text: 'It left this morning.' }, key)
  await demo.team('PATCH', path, { status: 'resolved' })
  const counted = () => demo.team('GET', `${workspace}/reports/counted?number=closed`)
  await waitUntil(counted, ({ items }) =>
    items.some(({ conversationId }: { conversationId: string }) => conversationId === writer.id),
  )
  return writer
}

const closed = (page: Page) =>
  page.locator('dl > div', { hasText: 'Closed' }).getByRole('button', { name: /^Closed: \d/ })
const focused = (page: Page) => page.locator(':focus').getAttribute('aria-label')
const period = (page: Page, days: string) =>
  page.getByRole('radiogroup', { name: 'Period' }).getByRole('radio', { name: days })

test('a number opens what it counts, with the keyboard too, and says what it is', async () => {
  const { id } = await closedConversation('Nina Castro')
  const { page } = await demo.open('reports')
  await closed(page).waitFor()
  await assertAccessible(page)
  await fitsPhone(page)
  await page.getByRole('button', { name: 'What is “Closed”?' }).click()
  await page.getByText(/^Conversations that were resolved or closed, each time/).waitFor()
  await page.keyboard.press('Tab')
  assert.match((await focused(page)) ?? '', /^Closed: \d/)
  await page.keyboard.press('Enter')
  const panel = page.getByRole('dialog', { name: 'Closed' })
  const link = panel.getByRole('link', { name: 'Nina Castro' })
  assert.match((await link.first().getAttribute('href')) ?? '', new RegExp(`/inbox/${id}$`))
  await assertAccessible(page)
  await page.keyboard.press('Escape')
  await panel.waitFor({ state: 'detached' })
  assert.match((await focused(page)) ?? '', /^Closed: \d/)
})

test('the period, the groups and a chosen value are in the address', async () => {
  await closedConversation('Rita Prado')
  const { page } = await demo.open('reports')
  await closed(page).waitFor()
  await page.getByText('7 days', { exact: true }).click()
  await page.waitForURL(/days=7/)
  const groups = page.getByRole('region', { name: 'Numbers by' })
  await groups.getByRole('combobox', { name: 'Group by' }).click()
  await page.getByRole('option', { name: 'Lead source' }).click()
  await page.waitForURL(/by=source/)
  await groups.getByRole('combobox', { name: 'Group by' }).click()
  await page.getByRole('option', { name: 'Number' }).click()
  await page.waitForURL(/by=connection/)
  const table = groups.getByRole('table', { name: 'Numbers by: Number' })
  await table
    .getByRole('button', { name: /, Closed: \d/ })
    .first()
    .click()
  const panel = page.getByRole('dialog', { name: 'Closed' })
  await panel.getByRole('link', { name: 'Rita Prado' }).first().waitFor()
  await page.keyboard.press('Escape')
  await panel.waitFor({ state: 'detached' })
  await table.getByRole('row').nth(1).getByRole('button').first().click()
  await page.waitForURL(/dimension=connection/)
  await page.getByText(/^Number: /).waitFor()
  await assertAccessible(page)
  await page.reload()
  await page.getByRole('button', { name: 'Show everything' }).click()
  await page.waitForURL((url) => !url.search.includes('dimension'))
  assert.match(page.url(), /days=7/)
})

test('parameters that are none are ignored', async () => {
  const { page } = await demo.open('reports?days=abc&dimension=team&value=No%20team&by=nothing')
  await closed(page).waitFor()
  await period(page, '30 days').and(page.locator(':checked')).waitFor({ state: 'attached' })
  assert.equal(await page.getByRole('button', { name: 'Show everything' }).count(), 0)
  await page.getByRole('table', { name: 'Numbers by: Number' }).waitFor()
})

test('a report is saved, opened again and deleted; members see neither costs nor the numbers of others', async () => {
  const { page } = await demo.open('reports?days=7&by=source')
  const saved = page.getByRole('region', { name: 'Saved reports' })
  await saved.getByRole('button', { name: 'Save this report' }).click()
  await page.keyboard.press('Escape')
  await saved.getByRole('button', { name: 'Save this report' }).click()
  await saved.getByRole('textbox', { name: 'Name' }).fill('My week')
  await saved.getByRole('checkbox', { name: 'Share with everyone' }).check()
  await page.keyboard.press('Enter')
  await page.getByText('My week saved').waitFor()
  await page.goto(`${demo.url}/w/${demo.workspaceId}/reports`)
  await saved.getByRole('button', { name: 'My week', exact: true }).click()
  await page.waitForURL(/days=7/)
  await period(page, '7 days').and(page.locator(':checked')).waitFor({ state: 'attached' })
  await page.getByRole('table', { name: 'Numbers by: Lead source' }).waitFor()

  const { page: theirs } = await newMember(demo, 'Rui Costa')
  await theirs.goto(`${demo.url}/w/${demo.workspaceId}/reports?by=person`)
  await closed(theirs).waitFor()
  assert.equal(await theirs.locator('dl > div', { hasText: 'Cost' }).count(), 0)
  await theirs.getByText('Nothing in this period.').waitFor()
  await theirs.getByRole('region', { name: 'Saved reports' }).getByRole('cell', { name: 'My week' }).waitFor()
  assert.equal(await theirs.getByRole('button', { name: 'Delete My week' }).count(), 0)

  await saved.getByRole('button', { name: 'Delete My week' }).click()
  await saved.getByText('Save a report to open it again').waitFor()
})
