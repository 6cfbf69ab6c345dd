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
