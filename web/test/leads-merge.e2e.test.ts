import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { assertAccessible } from './support/accessibility.ts'
import { pickOption } from './support/actions.ts'
import { phone } from './support/browser.ts'
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
  await dialog.getByText('Programs that know it by the reference crm-2 do not find it any more.').waitFor()
  const first = dialog.getByRole('group', { name: 'First name' })
  assert.equal(await first.getByRole('radio', { name: /^Marcia / }).isChecked(), true, 'the older one is kept')
  assert.equal(
    await dialog.getByRole('group', { name: 'Notes' }).getByRole('radio', { name: /^Both/ }).isChecked(),
    true,
  )
  await assertAccessible(page)
  await first.getByRole('radio', { name: /^Marcia / }).focus()
  await page.keyboard.press('ArrowDown')
  await dialog.getByRole('group', { name: 'plan' }).getByText('Pro').click()
  await dialog.getByRole('button', { name: 'Merge', exact: true }).click()
  await panelOf(page, 'Márcia Fusaro').waitFor()
  await page.waitForURL((url) => url.searchParams.get('lead') === one)
  const kept = await read(one)
  assert.deepEqual(
    [kept.firstName, kept.phone, kept.notes, kept.estimatedValue, kept.customFieldValues],
    [
      twin.firstName,
      marcia.phone,
      'Prefers mornings\n\nMet at the fair',
      1500,
      { plan: 'Pro', company: 'Fusaro & Co' },
    ],
  )
  const timeline = timelineOf(page, 'Márcia Fusaro')
  const line = timeline.getByRole('listitem').filter({ hasText: 'Márcia Fusaro was merged into this lead' })
  await line.getByText('First name: Marcia → Márcia').waitFor()
  await line.getByText('Estimated value: empty → 1,500').waitFor()
  await panelOf(page, 'Márcia Fusaro').getByText('Also found by: +55 11 95550-1002').waitFor()
  await line.scrollIntoViewIfNeeded()
  await page.getByRole('alert').filter({ hasText: 'was merged into' }).getByRole('button', { name: 'Undo' }).click()
  await page.getByText('Márcia Fusaro is back').waitFor()
  await panelOf(page, 'Marcia Fusaro').waitFor()
  await timelineOf(page, 'Marcia Fusaro')
    .getByText(/^Undone by /)
    .waitFor()
  assert.equal((await read(two)).status, 'qualified')
  assert.equal((await read(one)).externalRef, 'crm-1')
})

test('whom a lead is merged with is picked by a search, by keys alone; the other can be kept; the panel undoes it later', async () => {
  const [one, two] = [
    await make({ firstName: 'Otto', lastName: 'Kurz', phone: '5511955502001' }),
    await make({ firstName: 'Ottokar', lastName: 'Kurz' }),
  ]
  const { page } = await demo.open(`leads?lead=${one}`)
  const refused: string[] = []
  page.on('response', (answer) => answer.status() >= 400 && refused.push(answer.url()))
  await panelOf(page, 'Otto Kurz').getByRole('button', { name: 'Merge with…' }).focus()
  await page.keyboard.press('Enter')
  await dialogOf(page).getByLabel('Who is the same person as Otto Kurz?').waitFor()
  await page.keyboard.type('ottokar')
  await dialogOf(page)
    .getByRole('button', { name: /Ottokar Kurz/ })
    .waitFor()
  await page.keyboard.press('Enter')
  await dialogOf(page).getByRole('button', { name: 'Keep this one' }).focus()
  await page.keyboard.press('Enter')
  await dialogOf(page).getByText('Otto Kurz is deleted. You can undo this for 30 days.').waitFor()
  await dialogOf(page).getByRole('button', { name: 'Merge', exact: true }).focus()
  await page.keyboard.press('Enter')
  await panelOf(page, 'Ottokar Kurz').waitFor()
  assert.deepEqual(refused, [], 'what is gone is not asked for')
  assert.equal((await read(two)).phone, '5511955502001', 'what only the other has is filled in')
  await page.reload()
  const timeline = timelineOf(page, 'Ottokar Kurz')
  await pickOption(timeline.getByRole('combobox', { name: 'Show' }), { name: 'Merges' })
  const undo = timeline.getByRole('button', { name: 'Undo the merge' })
  await undo.focus()
  await page.keyboard.press('Enter')
  await page.getByText('Otto Kurz is back').waitFor()
  await undo.waitFor({ state: 'detached' })
  await timeline.getByText('Otto Kurz was merged into this lead').waitFor()
  await timeline.getByText(/^Undone by /).waitFor()
  assert.equal((await read(one)).phone, '5511955502001')
})

test('two rows that are selected are merged from the bar; more custom fields than a lead has must be given up first', async () => {
  const fields = (from: number) => Object.fromEntries(Array.from({ length: 6 }, (_, n) => [`field_${from + n}`, 'x']))
  const one = await make({ firstName: 'Zelda', lastName: 'Doppel', customFieldValues: fields(0) })
  await make({ firstName: 'Zelda', lastName: 'Doppel', customFieldValues: fields(6) })
  const { page } = await demo.open('leads?q=zelda', { viewport: phone })
  await page.setViewportSize({ width: 1440, height: 900 })
  await page.getByRole('status').getByText('2 leads', { exact: true }).waitFor()
  await page.getByRole('grid').focus()
  await page.keyboard.press('Control+a')
  await page.getByRole('button', { name: 'Merge the two' }).click()
  const dialog = dialogOf(page)
  await dialog
    .getByText('A lead has at most 10 custom fields, together these have 12. Choose “Neither” for 2.')
    .waitFor()
  const merge = dialog.getByRole('button', { name: 'Merge', exact: true })
  assert.equal(await merge.isDisabled(), true)
  await page.setViewportSize(phone)
  await page.setViewportSize({ width: 1440, height: 900 })
  for (const key of ['field_0', 'field_11']) {
    await dialog.getByRole('group', { name: key, exact: true }).getByText('Neither').click()
  }
  await merge.click()
  await page.getByRole('status').getByText('1 lead', { exact: true }).waitFor()
  assert.equal((await read(one)).customFields.length, 10)
})

test('the address of a lead that was merged away shows the one that has it, and says so; the page merges too, and undone it shows its own', async () => {
  const [one, two] = [
    await make({ firstName: 'Petra', lastName: 'Bauer', phone: '5511955503001' }),
    await make({ firstName: 'Petronella', lastName: 'Bauer', email: 'p@bauer.example' }),
  ]
  const { page } = await demo.open(`leads/${two}`)
  const heading = (name: string) => page.getByRole('heading', { name, level: 1 })
  await heading('Petronella Bauer').waitFor()
  await page.getByRole('button', { name: 'Merge with…' }).click()
  await dialogOf(page).getByLabel('Who is the same person as Petronella Bauer?').fill('petra')
  await dialogOf(page)
    .getByRole('button', { name: /Petra Bauer/ })
    .click()
  await dialogOf(page).getByText('Petronella Bauer is deleted. You can undo this for 30 days.').waitFor()
  await dialogOf(page).getByRole('button', { name: 'Merge', exact: true }).click()
  await page.waitForURL(new RegExp(`/leads/${one}$`))
  await heading('Petra Bauer').waitFor()
  const line = page.getByRole('status').filter({ hasText: 'Petronella Bauer was merged into this lead' })
  assert.equal(await line.count(), 0, 'who came by its own address is told nothing')

  await page.goto(`${demo.url}/w/${demo.workspaceId}/leads/${two}`)
  await heading('Petra Bauer').waitFor()
  await line.waitFor()
  assert.equal(await page.getByLabel('E-mail').inputValue(), 'p@bauer.example')
  await assertAccessible(page)
  await page.getByRole('button', { name: 'Undo the merge' }).click()
  await heading('Petronella Bauer').waitFor()
  await line.waitFor({ state: 'detached' })

  const { merge } = await demo.team('POST', `${leads}/${one}/merge`, { otherId: two })
  assert.equal(merge.otherName, 'Petronella Bauer')
  const panel = await demo.open(`leads?lead=${two}`)
  await panelOf(panel.page, 'Petra Bauer').getByText('Petronella Bauer was merged into this lead').first().waitFor()
})
