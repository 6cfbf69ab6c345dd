import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { assertAccessible } from './support/accessibility.ts'
import { pickOption } from './support/actions.ts'
import { sharedDemo } from './support/demo.ts'

const demo = await sharedDemo()
const leads = `/workspaces/${demo.workspaceId}/leads`
const panelOf = (page: Page, name: string) => page.getByRole('complementary', { name: `Lead ${name}` })
const timelineOf = (page: Page) => page.getByRole('region', { name: 'Timeline' })

async function newLead(fields: object): Promise<{ id: string }> {
  return (await demo.team('POST', leads, fields)).lead
}

test('the panel shows values as text that are changed in place, and one timeline with notes', async () => {
  const aurora = { firstName: 'Aurora', lastName: 'Linha', phone: '+55 11 95550-4321', estimatedValue: 1250.5 }
  const { id } = await newLead(aurora)
  const { page } = await demo.open(`leads?q=aurora&lead=${id}`)
  const panel = panelOf(page, 'Aurora Linha')
  const value = panel.getByLabel('Estimated value')
  await panel.getByText('Lead created').waitFor()
  assert.equal(await panel.getByRole('textbox', { name: 'Phone' }).inputValue(), '+55 11 95550-4321')
  assert.equal(await panel.getByLabel('Actual value').count(), 0)
  await panel.getByRole('button', { name: '3 empty fields' }).click()
  await panel.getByLabel('Actual value').waitFor()
  await value.fill('99')
  await page.keyboard.press('Escape')
  assert.equal(await value.inputValue(), '1250.5')
  await value.fill('2000')
  await page.keyboard.press('Enter')
  await timelineOf(page).getByText('Estimated value: 1,250.50 → 2,000').waitFor()

  await panel.getByLabel('Write a note').fill('Prefers mornings')
  await page.keyboard.press('Control+Enter')
  await timelineOf(page).getByText('Prefers mornings').waitFor()
  // What somebody else does shows by itself.
  await demo.team('PATCH', `${leads}/${id}`, { status: 'qualified' })
  await timelineOf(page).getByText('New → Qualified').waitFor()
  await pickOption(timelineOf(page).getByRole('combobox', { name: 'Show' }), { name: 'Notes' })
  await timelineOf(page).getByText('New → Qualified').waitFor({ state: 'detached' })
  await timelineOf(page).getByText('Prefers mornings').waitFor()
})

test('a lead opens as a page of its own, leads back to the view, and says when it is gone', async () => {
  const { id } = await newLead({ firstName: 'Bento', lastName: 'Folha', email: 'bento@example.com' })
  const { page } = await demo.open('leads?q=bento')
  await page.getByRole('button', { name: 'Bento Folha' }).click()
  await panelOf(page, 'Bento Folha').getByRole('link', { name: 'Open as page' }).click()
  await page.getByRole('heading', { name: 'Bento Folha', level: 1 }).waitFor()
  await page.waitForURL(new RegExp(`/leads/${id}$`))
  await timelineOf(page).getByText('Lead created').waitFor()
  assert.match(await page.title(), /Bento Folha/)
  await assertAccessible(page)
  await page.getByRole('link', { name: 'Back: Leads' }).click()
  await page.getByRole('searchbox', { name: 'Search leads' }).waitFor()
  await page.waitForURL(/q=bento/)

  const [tab] = await Promise.all([
    page.waitForEvent('popup'),
    page.getByRole('button', { name: 'Bento Folha' }).click({ modifiers: ['Control'] }),
  ])
  await tab.getByRole('heading', { name: 'Bento Folha', level: 1 }).waitFor()
  await tab.close()
  const gone = await demo.open('leads/01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e')
  await gone.page.getByRole('heading', { name: 'This lead is not here' }).waitFor()
  await gone.page.getByRole('button', { name: 'Go to leads' }).click()
  await gone.page.getByRole('grid', { name: 'List of leads' }).waitFor()
})

test('a lead who never wrote is messaged with a template once, and then written to where it was', async () => {
  const { id } = await newLead({ firstName: 'Clara', lastName: 'Nova', phone: '+55 11 95550-8765' })
  const { page } = await demo.open(`leads?q=clara&lead=${id}`)
  const panel = panelOf(page, 'Clara Nova')
  await panel.getByRole('button', { name: 'Message' }).click()
  const dialog = page.getByRole('dialog', { name: 'Message Clara Nova' })
  await pickOption(dialog.getByRole('combobox', { name: 'Template' }), { name: /order update.*English/ })
  const first = dialog.getByLabel('Value 1')
  assert.equal(await first.inputValue(), 'Clara')
  const others = await dialog.getByLabel(/^Value [2-9]/).all()
  for (const other of others) await other.fill('tomorrow')
  await dialog.getByRole('figure').getByText('Clara').waitFor()
  await assertAccessible(page)
  await dialog.getByRole('button', { name: 'Send' }).click()
  await page.waitForURL(/\/inbox\/[0-9a-f-]{36}/)
  const address = page.url()
  await page.goto(`${demo.url}/w/${demo.workspaceId}/leads/${id}`)
  await timelineOf(page).getByTitle('Open the conversation').waitFor()
  assert.equal(await timelineOf(page).getByTitle('Open the conversation').count(), 1)
  await page.keyboard.press('m')
  await page.waitForURL(address)
})
