import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertAccessible } from './support/accessibility.ts'
import { sharedDemo } from './support/demo.ts'
import { newCustomer } from './support/inbox.ts'

const demo = await sharedDemo()
const leads = `/workspaces/${demo.workspaceId}/leads`

test('a customer is erased from the panel of their lead, once the word is typed', async () => {
  const { lead } = await demo.team('POST', leads, { firstName: 'Zora', lastName: 'Weg', phone: '5511955508881' })
  const { page } = await demo.open(`leads?lead=${lead.id}`)
  const panel = page.getByRole('complementary', { name: 'Lead Zora Weg' })
  await panel.getByRole('button', { name: 'Erase this customer…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Erase this customer?' })
  await dialog.getByText(/This will be erased: 1 lead, 1 event\./).waitFor()
  await assertAccessible(page)
  const button = dialog.getByRole('button', { name: 'Erase for good' })
  assert.equal(await button.isDisabled(), true)
  await dialog.getByLabel('Type ERASE to confirm').fill('ERASE')
  await page.keyboard.press('Enter')
  await page.getByText(/^Erased: 1 lead/).waitFor()
  await panel.waitFor({ state: 'detached' })
  const { leads: found } = await demo.team('GET', `${leads}?search=zora`)
  assert.deepEqual(found, [])
  const { leads: trash } = await demo.team('GET', `${leads}/trash`)
  assert.ok(trash.every(({ firstName }: { firstName: string }) => firstName !== 'Zora'))
})

test('a customer is erased from their conversation, which leaves the list', async () => {
  const zeno = await newCustomer(demo, 'Zeno Weg', '5511955508882')
  await zeno.says('Please forget me')
  const { page } = await demo.open('inbox?view=all')
  await page.getByText('Zeno Weg').first().click()
  const erase = page.getByRole('button', { name: 'Erase this customer…' })
  await erase.click()
  const dialog = page.getByRole('dialog', { name: 'Erase this customer?' })
  await dialog.getByText(/1 conversation, /).waitFor()
  await dialog.getByLabel('Type ERASE to confirm').fill('ERASE')
  await dialog.getByRole('button', { name: 'Erase for good' }).click()
  await page.getByText(/^Erased: /).waitFor()
  const { conversations } = await demo.team('GET', `/workspaces/${demo.workspaceId}/inbox/conversations?limit=100`)
  assert.ok(conversations.every(({ contact }: { contact: { name: string } }) => contact.name !== 'Zeno Weg'))
  // Neither the list nor what was open shows them any more.
  await page.getByText('Zeno Weg').first().waitFor({ state: 'detached' })
})

test('how long what is kept is set, and kept', async () => {
  const { page } = await demo.open('settings/retention')
  await page.getByRole('switch', { name: 'Quiet conversations' }).check({ force: true })
  const days = page.getByLabel('Days: Quiet conversations')
  await days.fill('12')
  await page.getByText('30 to 3650 days').waitFor()
  assert.equal(await page.getByRole('button', { name: 'Save' }).isDisabled(), true)
  await days.fill('400')
  await page.getByRole('switch', { name: 'Audit log' }).uncheck({ force: true })
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved', { exact: true }).waitFor()
  const { workspace } = await demo.team('GET', `/workspaces/${demo.workspaceId}`)
  assert.deepEqual([workspace.retention.conversationsDays, workspace.retention.auditDays], [400, null])
  await page.reload()
  assert.equal(await page.getByLabel('Days: Quiet conversations').inputValue(), '400 days')
})
