import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertAccessible } from './support/accessibility.ts'
import { allowLoadFailure } from './support/browser.ts'
import { newWriter, thread } from './support/composing.ts'
import { sharedDemo } from './support/demo.ts'

const demo = await sharedDemo()

test('an admin begins a rule with an example, tries it and switches it on', async () => {
  const own = await demo.newWorkspace()
  const { page } = await own.open('settings/automation')
  await page.getByRole('button', { name: 'Prioritize questions about prices' }).click()
  const panel = page.getByRole('dialog')
  await panel.getByRole('tab', { name: 'Try' }).click()
  await panel.getByRole('button', { name: 'Try it' }).click()
  await panel.getByText('Nothing has happened yet that would start it.').waitFor()
  await panel.getByRole('tab', { name: 'Rule' }).click()
  await assertAccessible(page)
  await panel.getByRole('button', { name: 'Save' }).click()
  const rules = page.getByRole('list', { name: 'Rules' })
  await rules.getByText('A customer writes').waitFor()
  const changed = page.waitForResponse((answer) => answer.request().method() === 'PATCH' && answer.ok())
  await rules.getByRole('switch').click({ force: true })
  await changed
  await rules.getByRole('switch', { checked: true }).waitFor()
  await assertAccessible(page)
})

test('a macro is run in a conversation with a key', async () => {
  const macro = { name: 'Close politely', actions: [{ kind: 'add_note', text: 'Closed by macro.' }] }
  await demo.team('POST', `/workspaces/${demo.workspaceId}/automation/macros`, macro)
  const writer = await newWriter(demo, 'Lia Moura', 'Thanks, that was all.')
  const { page } = await demo.open(writer.place)
  await thread(page).getByText('Thanks, that was all.').waitFor()
  await page.keyboard.press('m')
  await page.getByRole('option', { name: 'Close politely' }).click()
  await page.getByText('Close politely: done').waitFor()
  await thread(page).getByText('Closed by macro.').waitFor()
})

test('a macro that could not be deleted stays, without an offer to undo', async () => {
  const macro = { name: 'Stays here', actions: [{ kind: 'add_note', text: 'Still there.' }] }
  await demo.team('POST', `/workspaces/${demo.workspaceId}/automation/macros`, macro)
  const { page } = await demo.open('settings/automation')
  allowLoadFailure(page)
  await page.route('**/macros/*', (route) => route.abort())
  const macros = page.getByRole('table', { name: 'Macros' })
  await macros.getByRole('button', { name: 'Stays here' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await page.getByText('Something went wrong').waitFor()
  await macros.getByRole('button', { name: 'Stays here' }).waitFor()
  assert.equal(await page.getByRole('button', { name: 'Undo' }).count(), 0)
})
