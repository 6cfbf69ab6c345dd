import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { assertAccessible } from './support/accessibility.ts'
import { pickOption } from './support/actions.ts'
import { newWriter, waitUntil } from './support/composing.ts'
import { sharedDemo } from './support/demo.ts'

const demo = await sharedDemo()
const leads = `/workspaces/${demo.workspaceId}/leads`
const panelOf = (page: Page, name: string) => page.getByRole('complementary', { name: `Lead ${name}` })
const timelineOf = (page: Page) => page.getByRole('region', { name: 'Timeline' })

async function newLead(fields: object): Promise<{ id: string }> {
  return (await demo.team('POST', leads, fields)).lead
}

test('the panel shows values that are edited in place, and a timeline with notes', async () => {
  const aurora = { firstName: 'Aurora', lastName: 'Linha', phone: '+55 11 95550-4321', estimatedValue: 1250.5 }
  const { id } = await newLead(aurora)
  const { page } = await demo.open(`leads?q=aurora&lead=${id}`)
  const panel = panelOf(page, 'Aurora Linha')
  const value = panel.getByLabel('Estimated value')
  await panel.getByText('Lead created').waitFor()
  assert.equal(await panel.getByRole('textbox', { name: 'Phone' }).inputValue(), '+55 11 95550-4321')
  assert.equal(await panel.getByLabel('Actual value').count(), 0)
  await panel.getByRole('button', { name: 'Show 3 empty fields' }).click()
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
  // Changes by others appear without a reload.
  await demo.team('PATCH', `${leads}/${id}`, { status: 'qualified' })
  await timelineOf(page).getByText('New → Qualified').waitFor()
  await pickOption(timelineOf(page).getByRole('combobox', { name: 'Show' }), { name: 'Notes' })
  await timelineOf(page).getByText('New → Qualified').waitFor({ state: 'detached' })
  await timelineOf(page).getByText('Prefers mornings').waitFor()
})

test('a lead opens on its own page, links back to the view, and says when it is deleted', async () => {
  const { id } = await newLead({ firstName: 'Bento', lastName: 'Folha', email: 'bento@example.com' })
  const { page } = await demo.open('leads?q=bento')
  await page.getByRole('button', { name: 'Bento Folha' }).click()
  await panelOf(page, 'Bento Folha').getByRole('link', { name: 'Open full page' }).click()
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
  await gone.page.getByRole('heading', { name: 'Lead not found' }).waitFor()
  await gone.page.getByRole('button', { name: 'Go to leads' }).click()
  await gone.page.getByRole('grid', { name: 'Lead list' }).waitFor()
})

const rowOf = (page: Page, name: string) => page.getByRole('row', { name })
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })

/** Creates a lead for the test with labels. */
async function labelled(firstName: string) {
  const { lead } = await demo.team('POST', leads, { firstName, status: 'proposal', source: 'event' })
  const has = async (): Promise<string[]> => (await demo.team('GET', `${leads}/${lead.id}`)).lead.labelIds
  return { id: lead.id as string, has }
}

test('labels are added to a lead by typing, including a new one, and appear in the table and on the board', async () => {
  const { has } = await labelled('Zulmira')
  const { page } = await demo.open('leads?q=zulmira')
  await page.getByRole('button', { name: 'Zulmira' }).click()
  const panel = panelOf(page, 'Zulmira')
  await panel.getByRole('button', { name: 'Labels' }).click()
  await page.getByPlaceholder('Search labels').waitFor()
  for (const name of ['Gold', 'Silver']) {
    await page.keyboard.type(name)
    await page.keyboard.press('Enter')
    await panel.getByText(name, { exact: true }).waitFor()
  }
  await waitUntil(has, { length: 2 })
  await page.keyboard.type('Silver')
  await page.keyboard.press('Enter')
  await panel.getByText('Silver', { exact: true }).waitFor({ state: 'detached' })
  await waitUntil(has, { length: 1 })
  await page.keyboard.press('Escape')
  await assertAccessible(page)
  await panel.getByRole('button', { name: 'Close' }).click()
  await button(page, 'Columns').click()
  await page.getByRole('checkbox', { name: 'Labels' }).check()
  await page.keyboard.press('Escape')
  await rowOf(page, 'Zulmira').getByText('Gold').waitFor()
  await page.keyboard.press('b')
  await page
    .getByRole('button', { name: /Zulmira/ })
    .getByRole('img', { name: 'Gold' })
    .waitFor()
})

const dialogOf = (page: Page) => page.getByRole('dialog', { name: 'Merge two leads' })
const read = async (id: string) => (await demo.team('GET', `${leads}/${id}`)).lead

const make = async (lead: object): Promise<string> => (await demo.team('POST', leads, lead)).lead.id

const both = { lastName: 'Fusaro', email: 'marcia@fusaro.example' }
const marcia = { ...both, firstName: 'Marcia', phone: '5511955501001', notes: 'Prefers mornings' }
const twin = { ...both, firstName: 'Márcia', phone: '5511955501002', notes: 'Met at the fair' }
const plans = { older: { plan: 'Basic' }, newer: { plan: 'Pro', company: 'Fusaro & Co' } }

test('two leads are merged from the duplicates hint: choose values, read the summary, undo from the toast', async () => {
  const [one, two] = [
    await make({ ...marcia, customFieldValues: plans.older }),
    await make({ ...twin, customFieldValues: plans.newer }),
  ]
  await demo.team('PATCH', `${leads}/${two}`, { status: 'qualified' })
  const { page } = await demo.open(`leads?lead=${two}`)
  const hint = panelOf(page, 'Márcia Fusaro').getByRole('region', { name: 'Possible duplicate' })
  await hint.getByRole('button', { name: 'Merge' }).click()
  const dialog = dialogOf(page)
  await dialog.getByText('Marcia Fusaro gets 1 status change from Márcia Fusaro.').waitFor()
  const first = dialog.getByRole('group', { name: 'First name' })
  assert.equal(await first.getByRole('radio', { name: /^Marcia / }).isChecked(), true, 'the older one is kept')
  await assertAccessible(page)
  await first.getByRole('radio', { name: /^Marcia / }).focus()
  await page.keyboard.press('ArrowDown')
  await dialog.getByRole('group', { name: 'plan' }).getByText('Pro').click()
  await dialog.getByRole('button', { name: 'Merge', exact: true }).click()
  await page.waitForURL((url) => url.searchParams.get('lead') === one)
  const line = timelineOf(page).getByRole('listitem')
  await line.getByText('First name: Marcia → Márcia').waitFor()
  const { firstName, notes, customFieldValues } = await read(one)
  assert.deepEqual([firstName, notes], [twin.firstName, 'Prefers mornings\n\nMet at the fair'])
  assert.deepEqual(customFieldValues, plans.newer)
  await panelOf(page, 'Márcia Fusaro').getByText('Also found by: +55 11 95550-1002').waitFor()
  await page.getByRole('alert').filter({ hasText: 'was merged into' }).getByRole('button', { name: 'Undo' }).click()
  await page.getByText('Márcia Fusaro restored').waitFor()
  await timelineOf(page)
    .getByText(/^Undone by /)
    .waitFor()
  assert.equal((await read(two)).status, 'qualified')
})

// Navigates within the app, so that the cache of one page is used on the next.
const goTo = (page: Page, room: string) =>
  page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: room }).click()

test('changing a lead beside its conversation updates the table, the board and its panel', async () => {
  const bia = await newWriter(demo, 'Bia Prado', 'Hi')
  await demo.team('POST', `/workspaces/${demo.workspaceId}/leads`, {
    firstName: 'Bia',
    lastName: 'Prado',
    phone: bia.number,
  })
  const { page } = await demo.open('leads')
  const row = page.getByRole('row', { name: 'Bia Prado' })
  await row.getByText('New', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Bia Prado' }).click()
  const panel = page.getByRole('complementary', { name: 'Lead Bia Prado' })
  await panel.getByText('Lead created').waitFor()
  await page.keyboard.press('b')
  const column = (status: string) => page.getByRole('region', { name: `Leads: ${status}` })
  await column('New').getByText('Bia Prado').waitFor()

  await goTo(page, 'Inbox')
  await page.getByRole('link', { name: /Bia Prado/ }).click()
  const status = page.getByRole('textbox', { name: 'Status' }).or(page.getByRole('combobox', { name: 'Status' }))
  await pickOption(status.first(), { name: 'Qualified', exact: true })
  await page.getByText('New → Qualified').waitFor()
  await goTo(page, 'Leads')
  await row.getByText('Qualified', { exact: true }).waitFor()
  await page.keyboard.press('b')
  await column('Qualified').getByText('Bia Prado').waitFor()
  assert.equal(await column('New').getByText('Bia Prado').count(), 0)
  await column('Qualified').getByText('Bia Prado').click()
  await panel.getByText('New → Qualified').waitFor()
})
