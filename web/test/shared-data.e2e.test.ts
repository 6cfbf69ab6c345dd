import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { pickOption } from './support/actions.ts'
import { newWriter } from './support/composing.ts'
import { sharedDemo } from './support/demo.ts'

const demo = await sharedDemo()
const workspace = `/workspaces/${demo.workspaceId}`

// Within the app, as a person goes: what was read on one page is what the next one begins with.
const goTo = (page: Page, room: string) =>
  page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: room }).click()

test('a view that is renamed and deleted in Settings is so on the leads page as well', async () => {
  await demo.team('POST', `${workspace}/saved-filters`, {
    page: 'leads',
    name: 'From afar',
    query: 'source=website',
    shared: true,
  })
  const { page } = await demo.open('leads')
  const view = (name: string) => page.getByRole('navigation', { name: 'Saved views' }).getByRole('link', { name })
  await view('From afar').waitFor()

  await goTo(page, 'Settings')
  await page.getByRole('link', { name: 'Saved filters' }).click()
  await page.getByRole('button', { name: 'Rename From afar' }).click()
  await page.getByRole('dialog').getByLabel('Name').fill('From near')
  await page.keyboard.press('Enter')
  await page.getByText('From near').waitFor()
  await goTo(page, 'Leads')
  await view('From near').waitFor()
  assert.equal(await view('From afar').count(), 0)

  await goTo(page, 'Settings')
  await page.getByRole('link', { name: 'Saved filters' }).click()
  await page.getByRole('button', { name: 'Delete From near' }).click()
  await page.getByText('From near is deleted').waitFor()
  await goTo(page, 'Leads')
  await view('All').waitFor()
  await view('From near').waitFor({ state: 'detached' })
})

test('a template that was just read from the platform is offered by the composer', async () => {
  const ada = await newWriter(demo, 'Ada Novais', 'Hello')
  const { page } = await demo.open(ada.place)
  const search = page.getByLabel('Search templates')
  await page.getByRole('button', { name: 'Template', exact: true }).click()
  await search.fill('parcel')
  await page.getByText('No template matches').waitFor()
  const components = [{ type: 'BODY', text: 'Your parcel is here.' }]
  const template = { name: 'parcel_here', language: 'en', status: 'APPROVED', components }
  await demo.call('POST', `${demo.simulatorUrl}/simulator/templates`, template)

  await goTo(page, 'Connections')
  const number = page.getByRole('row', { name: /Cloud API/ })
  await number.getByRole('button').first().click()
  await page.getByRole('region', { name: 'Templates' }).getByRole('button', { name: 'Sync now' }).click()
  await page.getByText(/templates? synced/).waitFor()
  await goTo(page, 'Inbox')
  await page.getByRole('link', { name: /Ada Novais/ }).click()
  await page.getByRole('button', { name: 'Template', exact: true }).click()
  await search.fill('parcel')
  await page.getByRole('button', { name: /^Parcel here/ }).waitFor()
})

test('what is changed of a lead beside its conversation is changed in the table, on the board and in its panel', async () => {
  const bia = await newWriter(demo, 'Bia Prado', 'Hi')
  await demo.team('POST', `${workspace}/leads`, { firstName: 'Bia', lastName: 'Prado', phone: bia.number })
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
