import assert from 'node:assert/strict'
import { test } from 'node:test'
import { confirmByTyping } from '../support/actions.ts'
import { sharedDemo } from '../support/demo.ts'

const demo = await (await sharedDemo()).newWorkspace()

test('the workspace settings are changed and saved', async () => {
  const { page } = await demo.open('settings')
  await page.getByLabel('Name').fill('Acme Sales')
  await page.getByLabel('New leads per day', { exact: true }).fill('500')
  await page.getByRole('switch', { name: /Create leads from chat/ }).check({ force: true })
  await page.getByLabel('New status').fill('In Review')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Move In review up' }).click()
  await page.getByRole('button', { name: 'Remove Unqualified' }).click()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved', { exact: true }).waitFor()

  await page.reload()
  await page.getByRole('list', { name: 'Lead statuses' }).waitFor()
  assert.equal(await page.getByLabel('Name').inputValue(), 'Acme Sales')
  assert.equal(await page.getByRole('switch', { name: /Create leads from chat/ }).isChecked(), true)
  const { workspace } = await demo.team('GET', `/workspaces/${demo.workspaceId}`)
  assert.equal(workspace.dailyLeadQuota, 500)
  assert.deepEqual(workspace.leadStatuses.slice(-3), ['won', 'lost', 'in_review'])
})

test('a label is created, changed and deleted', async () => {
  const { page } = await demo.open('settings/labels')
  await page.getByRole('button', { name: 'New label' }).first().click()
  const panel = page.getByRole('dialog')
  await panel.getByLabel('Name').fill('Press')
  await panel.getByText('Teal').click()
  await panel.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('row', { name: 'Press Teal' }).waitFor()
  await page.getByRole('button', { name: 'Press' }).click()
  await panel.getByLabel('Name').fill('Newspapers')
  await panel.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('button', { name: 'Newspapers' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await confirmByTyping(page, 'Delete the label Newspapers?', 'Newspapers')
  await page.getByRole('row', { name: 'Newspapers Teal' }).waitFor({ state: 'detached' })
})
