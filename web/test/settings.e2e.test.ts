import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { assertAccessible } from './support/accessibility.ts'
import { confirmByTyping } from './support/actions.ts'
import { visitOf } from './support/browser.ts'
import { password, sharedDemo } from './support/demo.ts'

const demo = await (await sharedDemo()).newWorkspace()

test('a person is invited, joins in a separate browser, gets another role and is removed', async () => {
  const { page } = await demo.open('settings/members')
  await page.getByRole('button', { name: 'Invite member' }).click()
  const panel = page.getByRole('dialog')
  await panel.getByLabel('Email').fill('bea@example.com')
  await panel.getByRole('button', { name: 'Create link' }).click()
  const link = await panel.getByRole('textbox', { name: 'Invitation link' }).inputValue()
  await panel.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('table', { name: 'Pending invitations' }).getByText('bea@example.com').waitFor()

  const { page: hers } = await visitOf(demo.browser, {})
  await hers.goto(link)
  await hers.getByRole('heading').waitFor()
  await assertAccessible(hers)
  await hers.getByLabel('Your name').fill('Bea Costa')
  await hers.getByLabel('Password').fill(password)
  await hers.getByRole('button', { name: 'Join' }).click()
  await hers.getByRole('navigation', { name: 'Main' }).waitFor()
  await asPlainMember(hers)

  await page.reload()
  await page.getByRole('combobox', { name: 'Role for Bea Costa' }).click()
  const changed = page.waitForResponse((answer) => answer.request().method() === 'PATCH' && answer.ok())
  await page.getByRole('option', { name: 'Admin' }).click()
  await changed
  await hers.goto(`${demo.url}/w/${demo.workspaceId}/settings/audit`)
  await hers.getByRole('row', { name: /changed a role Bea Costa/ }).waitFor()

  await page.getByRole('button', { name: 'Remove Bea Costa' }).click()
  await confirmByTyping(page, 'Remove Bea Costa from the workspace?', 'Bea Costa')
  await page.getByText('Bea Costa is no longer a member').waitFor()
  await hers.goto(demo.url)
  await hers.getByText('No workspace yet').waitFor()
})

/** Checks what a member without admin rights sees. */
async function asPlainMember(page: Page): Promise<void> {
  await page.goto(`${demo.url}/w/${demo.workspaceId}/settings`)
  await page.getByText('Only admins and owners can change this.').waitFor()
  assert.equal(await page.getByLabel('Name').isDisabled(), true)
  assert.equal(await page.getByRole('link', { name: 'Audit log' }).count(), 0)
  await page.goto(`${demo.url}/w/${demo.workspaceId}/settings/tokens`)
  await page.getByText('Your role doesn’t allow this.').waitFor()
  await assertAccessible(page)
}

test('the stop switch stops every agent after typing the word', async () => {
  const { page } = await demo.open('settings/agents')
  await page.getByRole('button', { name: 'Stop all agents' }).click()
  const ask = page.getByRole('dialog', { name: 'Stop all agents?' })
  const stop = ask.getByRole('button', { name: 'Stop all agents' })
  assert.equal(await stop.isDisabled(), true)
  await ask.getByLabel('Type STOP to confirm').fill('STOP')
  await stop.click()
  await page.getByText('All agents are stopped. Your team handles every conversation.').waitFor()
  assert.equal((await demo.team('GET', `/workspaces/${demo.workspaceId}`)).workspace.agentsStopped, true)
})

test('business hours: default office hours, an overlap shown beside its day, and saved', async () => {
  const { page } = await demo.open('settings/hours')
  const save = page.getByRole('region', { name: 'Schedule' }).getByRole('button', { name: 'Save' })
  await page.getByRole('switch', { name: /Share business hours/ }).check({ force: true })
  await page.getByRole('combobox', { name: 'Time zone' }).fill('Sao_Paulo')
  await page.getByRole('option', { name: 'America/Sao_Paulo' }).click()
  await page.getByLabel('Monday: end of period 1').fill('12:00')
  await page.getByRole('button', { name: 'Monday: add period' }).click()
  await page.getByText('Enter a start and an end.').waitFor()
  await page.getByLabel('Monday: start of period 2').fill('11:00')
  await page.getByLabel('Monday: end of period 2').fill('00:00')
  await page.getByText('These periods overlap. Change one.').waitFor()
  assert.equal(await save.isDisabled(), true)
  await assertAccessible(page)
  await page.getByLabel('Monday: start of period 2').fill('13:00')
  await save.click()
  await page.getByText('Saved', { exact: true }).waitFor()
  const { timeZone, week } = (await demo.team('GET', `/workspaces/${demo.workspaceId}`)).workspace.hours
  assert.deepEqual([timeZone, week.monday[1]], ['America/Sao_Paulo', { from: '13:00', to: '24:00' }])
})

test('a team gets holidays of its own', async () => {
  const { team } = await demo.team('POST', `/workspaces/${demo.workspaceId}/teams`, {
    name: 'Warehouse',
    memberIds: [],
  })
  const { page } = await demo.open('settings/hours')
  await page.getByRole('combobox', { name: 'Team' }).click()
  await page.getByRole('option', { name: 'Warehouse' }).click()
  const form = page.getByRole('region', { name: 'This team' })
  await form.getByRole('switch', { name: 'Own holidays' }).check({ force: true })
  await form.getByLabel('Name').fill('Inventory')
  await form.getByLabel('First day').fill('2026-12-28')
  await form.getByLabel('Name').press('Enter')
  await form.getByRole('button', { name: /Inventory/ }).waitFor()
  await assertAccessible(page)
  await form.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved', { exact: true }).first().waitFor()
  const { teams } = await demo.team('GET', `/workspaces/${demo.workspaceId}/team-services`)
  const own = teams.find(({ teamId }: { teamId: string }) => teamId === team.id)
  assert.deepEqual(own.holidays, [{ name: 'Inventory', from: '2026-12-28', to: '2026-12-28' }])
})

test('deleting what a panel shows does not save it as well', async () => {
  await demo.team('POST', `/workspaces/${demo.workspaceId}/labels`, { name: 'Short-lived', color: 'red' })
  const { page } = await demo.open('settings/labels')
  const methods: string[] = []
  page.on('request', (request) => {
    if (/\/labels\/[^/]+$/.test(request.url())) methods.push(request.method())
  })
  const row = page.getByRole('button', { name: 'Short-lived' })
  await row.click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await confirmByTyping(page, 'Delete the label Short-lived?', 'Short-lived')
  await row.waitFor({ state: 'detached' })
  assert.deepEqual(methods, ['DELETE'])
})
