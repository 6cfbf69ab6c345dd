import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { assertAccessible } from './support/accessibility.ts'
import { sharedDemo } from './support/demo.ts'

const demo = await sharedDemo()
const leads = `/workspaces/${demo.workspaceId}/leads`
const panelOf = (page: Page, name: string) => page.getByRole('complementary', { name: `Lead ${name}` })
const timelineOf = (page: Page, name: string) => panelOf(page, name).getByRole('region', { name: 'Timeline' })
const dialogOf = (page: Page) => page.getByRole('dialog', { name: 'Merge two leads' })
const read = async (id: string) => (await demo.team('GET', `${leads}/${id}`)).lead

async function make(lead: object): Promise<string> {
  const answer = await demo.team('POST', leads, lead)
  assert.ok(answer.lead, JSON.stringify(answer))
  return answer.lead.id
}

const marcia = {
  firstName: 'Marcia',
  lastName: 'Fusaro',
  phone: '5511955501001',
  email: 'marcia@fusaro.example',
  notes: 'Prefers mornings',
  externalRef: 'crm-1',
  customFieldValues: { plan: 'Basic' },
}
const twin = {
  firstName: 'Márcia',
  lastName: 'Fusaro',
  phone: '5511955501002',
  email: 'Marcia@fusaro.example',
  notes: 'Met at the fair',
  externalRef: 'crm-2',
  estimatedValue: 1500,
  customFieldValues: { plan: 'Pro', company: 'Fusaro & Co' },
}

test('two leads are merged from the hint of duplicates: values are chosen, what will happen is said, and undone from the toast', async () => {
  const [one, two] = [await make(marcia), await make(twin)]
  await demo.team('PATCH', `${leads}/${two}`, { status: 'qualified' })
  const { page } = await demo.open(`leads?lead=${two}`)
  const hint = panelOf(page, 'Márcia Fusaro').getByRole('region', { name: 'May be the same person' })
  await hint.getByRole('button', { name: 'Merge' }).click()
  const dialog = dialogOf(page)
  await dialog.getByText('Marcia Fusaro gets 1 change of status from Márcia Fusaro.').waitFor()
  const first = dialog.getByRole('group', { name: 'First name' })
  assert.equal(await first.getByRole('radio', { name: /^Marcia / }).isChecked(), true, 'the older one is kept')
  await assertAccessible(page)
  await first.getByRole('radio', { name: /^Marcia / }).focus()
  await page.keyboard.press('ArrowDown')
  await dialog.getByRole('group', { name: 'plan' }).getByText('Pro').click()
  await dialog.getByRole('button', { name: 'Merge', exact: true }).click()
  await page.waitForURL((url) => url.searchParams.get('lead') === one)
  const line = timelineOf(page, 'Márcia Fusaro').getByRole('listitem')
  await line.getByText('First name: Marcia → Márcia').waitFor()
  const { firstName, notes, customFieldValues } = await read(one)
  assert.deepEqual([firstName, notes], [twin.firstName, 'Prefers mornings\n\nMet at the fair'])
  assert.deepEqual(customFieldValues, { plan: 'Pro', company: 'Fusaro & Co' })
  await panelOf(page, 'Márcia Fusaro').getByText('Also found by: +55 11 95550-1002').waitFor()
  await page.getByRole('alert').filter({ hasText: 'was merged into' }).getByRole('button', { name: 'Undo' }).click()
  await page.getByText('Márcia Fusaro is back').waitFor()
  await timelineOf(page, 'Marcia Fusaro')
    .getByText(/^Undone by /)
    .waitFor()
  assert.equal((await read(two)).status, 'qualified')
})

test('whom a lead is merged with is picked by a search, by keys alone; the panel undoes it later', async () => {
  const [one] = [
    await make({ firstName: 'Otto', lastName: 'Kurz', phone: '5511955502001' }),
    await make({ firstName: 'Ottokar', lastName: 'Kurz' }),
  ]
  const { page } = await demo.open(`leads?lead=${one}`)
  const enterOn = async (button: Locator) => {
    await button.focus()
    await page.keyboard.press('Enter')
  }
  await enterOn(panelOf(page, 'Otto Kurz').getByRole('button', { name: 'Merge with…' }))
  await dialogOf(page).getByLabel('Who is the same person as Otto Kurz?').waitFor()
  await page.keyboard.type('ottokar')
  await dialogOf(page)
    .getByRole('button', { name: /Ottokar Kurz/ })
    .waitFor()
  await page.keyboard.press('Enter')
  await enterOn(dialogOf(page).getByRole('button', { name: 'Keep this one' }))
  await dialogOf(page).getByText('Otto Kurz is deleted. You can undo this for 30 days.').waitFor()
  await enterOn(dialogOf(page).getByRole('button', { name: 'Merge', exact: true }))
  await panelOf(page, 'Ottokar Kurz').waitFor()
  await page.reload()
  await enterOn(timelineOf(page, 'Ottokar Kurz').getByRole('button', { name: 'Undo the merge' }))
  await page.getByText('Otto Kurz is back').waitFor()
  assert.equal((await read(one)).phone, '5511955502001')
})
