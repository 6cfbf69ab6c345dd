import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertAccessible } from './support/accessibility.ts'
import { sharedDemo } from './support/demo.ts'

const demo = await sharedDemo()
const leads = `/workspaces/${demo.workspaceId}/leads`

test('a customer is erased from the lead panel after typing the word', async () => {
  const { lead } = await demo.team('POST', leads, { firstName: 'Zora', lastName: 'Weg', phone: '5511955508881' })
  const { page } = await demo.open(`leads?lead=${lead.id}`)
  const panel = page.getByRole('complementary', { name: 'Lead Zora Weg' })
  await panel.getByRole('button', { name: 'Erase customer…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Erase this customer?' })
  await dialog.getByText(/This will be erased: 1 lead, 1 event\./).waitFor()
  await assertAccessible(page)
  const button = dialog.getByRole('button', { name: 'Erase permanently' })
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
