import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { assertAccessible } from './support/accessibility.ts'
import { allowLoadFailure, phone } from './support/browser.ts'
import { waitUntil } from './support/composing.ts'
import { openDemo } from './support/demo.ts'

const demo = await openDemo()
const leads = `/workspaces/${demo.workspaceId}/leads`
// Rows that are loading are empty, and ignore keys.
const firstLead = (page: Page) => page.locator('[data-row="0"]').getByRole('button').first()

const quinta = { firstName: 'Quinta', lastName: 'Prova', phone: '+55 11 95550-7777', estimatedValue: 1250.5 }
const { lead } = await demo.team('POST', leads, quinta)
await demo.team('PATCH', `${leads}/${lead.id}`, { status: 'qualified' })

test('a card moves to another column by mouse and keyboard, and back if the server refuses', async () => {
  const { page } = await demo.open('leads?view=board')
  const column = (name: string) => page.getByRole('region', { name: `Leads: ${name}` })
  const card = (name: string) => column(name).getByRole('button', { name: /Quinta Prova/ })
  await card('Qualified').waitFor()
  const count = await column('Proposal').locator('header').innerText()
  await card('Qualified').dragTo(column('Proposal'))
  await card('Proposal').waitFor()
  assert.notEqual(await column('Proposal').locator('header').innerText(), count)
  await assertStored('quinta', { status: 'proposal' })
  await card('Proposal').focus()
  await page.keyboard.press('Shift+ArrowRight')
  await card('Won').waitFor()
  await assertStored('quinta', { status: 'won' })
  allowLoadFailure(page)
  await page.route('**/leads/*', (route) => (route.request().method() === 'PATCH' ? route.abort() : route.continue()))
  await card('Won').focus()
  await page.keyboard.press('Shift+ArrowRight')
  await page.getByText('Couldn’t reach Parley. Nothing was changed.').waitFor()
  await card('Won').waitFor()
})

test('columns are chosen, resized and moved, and survive a reload', async () => {
  const { page } = await demo.open('leads')
  await firstLead(page).waitFor()
  // Custom fields load shortly after the rows.
  const defined = page.getByRole('columnheader', { name: 'Interested in' })
  await defined.waitFor()
  await page.getByRole('button', { name: 'Columns' }).click()
  await page.getByRole('checkbox', { name: 'Source' }).uncheck()
  await page.getByRole('button', { name: 'Move Phone left' }).click()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog', { name: 'Columns' }).waitFor({ state: 'detached' })
  const heads = async () => (await page.getByRole('columnheader').allInnerTexts()).join()
  const wanted = 'Name,Phone,Status,Assignee,Priority,Estimated value,Created,Interested in'
  assert.equal(await heads(), wanted)
  const edge = await page.getByRole('separator', { name: 'Resize Phone' }).boundingBox()
  assert.ok(edge)
  await page.mouse.move(edge.x + 4, edge.y + 4)
  await page.mouse.down()
  await page.mouse.move(edge.x + 64, edge.y + 4)
  await page.mouse.up()
  const width = async () => (await page.getByRole('columnheader', { name: 'Phone' }).boundingBox())?.width
  assert.equal(await width(), 216)
  await page.reload()
  await defined.waitFor()
  assert.deepEqual([await heads(), await width()], [wanted, 216])
})

async function assertStored(term: string, fields: Record<string, unknown>): Promise<void> {
  const stored = async () => (await demo.team('GET', `${leads}?search=${term}`)).leads[0]
  await waitUntil(stored, (lead) => Object.entries(fields).every(([field, value]) => lead?.[field] === value))
}

test('a phone shows one board column at a time, chosen by name or by swiping', async () => {
  const { page } = await demo.open('leads', { viewport: phone })
  await firstLead(page).waitFor()
  await page.getByRole('img', { name: 'Board' }).click()
  const chooser = page.getByRole('navigation', { name: 'Status' })
  const isChosen = (name: RegExp) => chooser.locator('[aria-current=true]').filter({ hasText: name }).waitFor()
  await isChosen(/^New \d/)
  // Hovering shows a tooltip.
  await page.mouse.move(200, 500)
  await page.getByRole('tooltip').waitFor({ state: 'detached' })
  await assertAccessible(page)
  const won = page.getByRole('region', { name: 'Leads: Won' })
  await chooser.getByRole('button', { name: /^Won \d/ }).click()
  await isChosen(/^Won \d/)
  // It counts as selected while it is still sliding.
  await waitUntil(
    () => won.boundingBox(),
    (box) => box !== null && box.x >= 0 && box.x + box.width <= phone.width,
  )
  await page.getByRole('region', { name: 'Board' }).evaluate((element) => element.scrollTo({ left: 0 }))
  await isChosen(/^New \d/)
  await page.getByRole('region', { name: 'Leads: New' }).getByRole('button').first().click()
  await page.getByRole('complementary', { name: /^Lead / }).waitFor()
})
