import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { assertAccessible } from './support/accessibility.ts'
import { confirmByTyping, pickOption } from './support/actions.ts'
import { visitOf } from './support/browser.ts'
import { until } from './support/composing.ts'
import { callAs, newMember, password, sharedDemo, signedOut } from './support/demo.ts'
import { downloadedLines } from './support/transfer.ts'

const demo = await (await sharedDemo()).newWorkspace()

test('a person is invited, joins in a browser of their own, gets another role and is removed', async () => {
  const { page } = await demo.open('settings/members')
  await page.getByRole('button', { name: 'Invite a person' }).click()
  const panel = page.getByRole('dialog')
  await panel.getByLabel('E-mail').fill('bea@example.com')
  await panel.getByRole('button', { name: 'Create the link' }).click()
  const link = await panel.getByRole('textbox', { name: 'Invitation link' }).inputValue()
  await panel.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('table', { name: 'Open invitations' }).getByText('bea@example.com').waitFor()

  const { page: hers } = await visitOf(demo.browser, {})
  await hers.goto(link)
  await assertAccessible(hers)
  await hers.getByLabel('Your name').fill('Bea Costa')
  await hers.getByLabel('Password').fill(password)
  await hers.getByRole('button', { name: 'Join' }).click()
  await hers.getByRole('navigation', { name: 'Main' }).waitFor()
  await asPlainMember(hers)

  await page.reload()
  await page.getByRole('combobox', { name: 'Role of Bea Costa' }).click()
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

/** What somebody sees who may not set things up. */
async function asPlainMember(page: Page): Promise<void> {
  await page.goto(`${demo.url}/w/${demo.workspaceId}/settings`)
  await page.getByText('Only admins and owners can change this.').waitFor()
  assert.equal(await page.getByLabel('Name').isDisabled(), true)
  assert.equal(await page.getByRole('link', { name: 'Audit log' }).count(), 0)
  await page.goto(`${demo.url}/w/${demo.workspaceId}/settings/tokens`)
  await page.getByText('Your role does not allow this.').waitFor()
  await assertAccessible(page)
  await page.getByRole('link', { name: 'Labels' }).click()
  await page.getByRole('heading', { name: 'Labels', exact: true }).waitFor()
  assert.equal(await page.getByRole('button', { name: 'New label' }).count(), 0)
}

test('whoever removes somebody sees what they made, and decides about it in the same step', async () => {
  const { page } = await demo.open('settings/members')
  const davi = await newMember(demo, 'Davi Reis', 'admin')
  const call = (method: string, path: string, body: object) => callAs(davi.page, method, path, body)
  const path = `/workspaces/${demo.workspaceId}`
  const { value } = await call('POST', `${path}/keys`, { name: 'Shop robot', scopes: ['leads.read'] })
  const webhook = { url: 'https://hooks.example.com/x', events: ['lead.*'], description: 'Warehouse' }
  const { endpoint } = await call('POST', `${path}/webhooks`, webhook)
  await call('POST', `${path}/invitations`, { email: 'friend@example.com', role: 'admin' })

  await page.reload()
  const invited = page.getByRole('row', { name: /friend@example.com/ })
  await invited.getByText('Davi Reis').waitFor()
  await page.getByRole('button', { name: 'Remove Davi Reis' }).click()
  const ask = page.getByRole('dialog', { name: 'Remove Davi Reis from the workspace?' })
  await ask.getByText('Their open invitations are withdrawn: friend@example.com.').waitFor()
  await ask.getByText('Shop robot · never used').waitFor()
  await ask.getByText('Warehouse · never used').waitFor()
  assert.equal(await ask.getByLabel('Revoke these keys').isChecked(), false)
  await ask.getByLabel('Revoke these keys').check()
  await assertAccessible(page)
  await ask.getByLabel('Type Davi Reis to confirm').fill('Davi Reis')
  await page.keyboard.press('Enter')
  await page.getByText('Davi Reis is no longer a member').waitFor()
  await invited.waitFor({ state: 'detached' })
  const { status } = await demo.call('GET', '/api/v1/leads?limit=5', undefined, { authorization: `Bearer ${value}` })
  assert.equal(status, 401)
  assert.equal(
    (await demo.team('GET', `/workspaces/${demo.workspaceId}/webhooks/${endpoint.id}`)).endpoint.state,
    'active',
  )
  await page.goto(`${demo.url}/w/${demo.workspaceId}/keys`)
  await page.getByRole('button', { name: 'Shop robot' }).click()
  await page.getByRole('dialog').getByText('A former member').waitFor()
})

test('an owner signs somebody out everywhere', async () => {
  const { page } = await demo.open('settings/members')
  const { page: theirs } = await newMember(demo, 'Gabi Luz')
  await page.reload()
  await page.getByRole('button', { name: 'Sign Gabi Luz out everywhere' }).click()
  const ask = page.getByRole('dialog', { name: 'Sign Gabi Luz out everywhere?' })
  await assertAccessible(page)
  await ask.getByRole('button', { name: 'Sign out everywhere' }).click()
  await page.getByText('Gabi Luz is signed out everywhere').waitFor()
  await signedOut(theirs)
})

test('the ceiling of new leads is an operator’s to set, and an admin is told of it', async () => {
  const { page } = await demo.open('settings/workspace')
  await page.getByLabel('New leads per day', { exact: true }).fill('800')
  await page.getByLabel('Maximum new leads per day').fill('900')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved', { exact: true }).waitFor()
  const { page: admins } = await newMember(demo, 'Hugo Paz', 'admin')
  await admins.goto(`${demo.url}/w/${demo.workspaceId}/settings/workspace`)
  await admins.getByText('At most 900').waitFor()
  assert.equal(await admins.getByLabel('Maximum new leads per day').count(), 0)
  const { workspace } = await demo.team('GET', `/workspaces/${demo.workspaceId}`)
  assert.deepEqual([workspace.dailyLeadQuota, workspace.dailyLeadQuotaCeiling], [800, 900])
})

test('the last owner stays one, and the page says why', async () => {
  const { page } = await demo.open('settings/members')
  const role = page.getByRole('combobox', { name: 'Role of Demo Owner' })
  await pickOption(role, { name: 'Member' })
  await page.getByText('A workspace needs an owner.').waitFor()
  assert.equal(await role.inputValue(), 'Owner')
})

test('a canned reply is written, refused for a placeholder nobody fills, deleted and brought back', async () => {
  const { page } = await demo.open('settings/replies')
  await page.getByRole('button', { name: 'New reply' }).first().click()
  const panel = page.getByRole('dialog')
  await panel.getByLabel('Shortcut').fill('opening')
  await panel.getByLabel('Text').fill('Hi {{nobody}}')
  await panel.getByRole('button', { name: 'Save' }).click()
  await panel.getByText('Only these placeholders work').waitFor()
  await panel.getByLabel('Text').fill('Hi ')
  await panel.getByRole('button', { name: 'Customer’s first name' }).click()
  assert.equal(await panel.getByLabel('Text').inputValue(), 'Hi {{contact.first_name}}')
  await panel.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('button', { name: '/opening' }).click()
  await panel.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByRole('row', { name: '/opening Hi {{contact.first_name}}' }).waitFor()
})

test('the stop switch stops every agent after a typed word, and lets them again', async () => {
  const { page } = await demo.open('settings/agents')
  await page.getByRole('button', { name: 'Stop all agents' }).click()
  const ask = page.getByRole('dialog', { name: 'Stop all agents?' })
  const stop = ask.getByRole('button', { name: 'Stop all agents' })
  assert.equal(await stop.isDisabled(), true)
  await ask.getByLabel('Type STOP to confirm').fill('STOP')
  await stop.click()
  await page.getByText('All agents are stopped. People answer every conversation.').waitFor()
  const stopped = async () => (await demo.team('GET', `/workspaces/${demo.workspaceId}`)).workspace.agentsStopped
  assert.equal(await stopped(), true)
  await page.getByRole('link', { name: 'Home' }).click()
  await page.getByRole('link', { name: /All agents are stopped/ }).click()
  await page.getByRole('button', { name: 'Let agents answer again' }).click()
  await page.getByText('Agents may answer customers.').waitFor()
  assert.equal(await stopped(), false)
})

test('what agents should know, when the watchdog steps in and who hands back are set, kept, and cleared', async () => {
  const { page } = await demo.open('settings/agents')
  const word = page.getByLabel('For every agent of this workspace')
  const minutes = page.getByLabel('After how many minutes')
  const leaves = page.getByRole('switch', { name: /leave it alone until/ })
  const kept = async () => (await demo.team('GET', `/workspaces/${demo.workspaceId}`)).workspace
  const save = async (section: string) => {
    await page.getByRole('region', { name: section }).getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved', { exact: true }).waitFor()
    await page.getByText('Saved', { exact: true }).waitFor({ state: 'detached' })
  }
  await word.fill('You speak for a shoe shop.')
  await save('What agents should know')
  await page.getByRole('switch', { name: /Give a conversation to people/ }).check({ force: true })
  await minutes.fill('45')
  await save('Watchdog')
  await leaves.click({ force: true })
  await until(kept, { agentsMayTakeBack: 'when_handed', agentWord: 'You speak for a shoe shop.' })
  await page.reload()
  await word.waitFor()
  assert.equal(await word.inputValue(), 'You speak for a shoe shop.')
  assert.equal(await minutes.inputValue(), '45')
  assert.equal(await leaves.isChecked(), true)
  await word.fill(' ')
  await save('What agents should know')
  await until(kept, { agentWord: null })
})

test('a team token is shown once, works, and is revoked', async () => {
  const { page } = await demo.open('settings/tokens')
  await page.getByRole('button', { name: 'New token' }).first().click()
  const panel = page.getByRole('dialog')
  await panel.getByLabel('Name').fill('Nightly export')
  await panel.getByRole('button', { name: 'New token' }).click()
  const shown = page.getByRole('dialog', { name: 'The token Nightly export' })
  const value = await shown.getByRole('textbox', { name: 'Value of the token' }).inputValue()
  const status = async () =>
    (
      await demo.call('GET', `/api/team/v1/workspaces/${demo.workspaceId}/labels`, undefined, {
        authorization: `Bearer ${value}`,
      })
    ).status
  assert.equal(await status(), 200)
  await shown.getByRole('button', { name: 'I have saved it' }).click()
  await page.getByRole('button', { name: 'Revoke Nightly export' }).click()
  await confirmByTyping(page, 'Revoke Nightly export?', 'Nightly export')
  await page.getByText('Nightly export is revoked').waitFor()
  assert.equal(await status(), 401)
})

test('a saved filter is renamed and deleted', async () => {
  const { page } = await demo.open('settings/labels')
  const filter = { page: 'inbox', name: 'Waiting', query: 'view=mine' }
  await callAs(page, 'POST', `/workspaces/${demo.workspaceId}/saved-filters`, filter)
  await page.getByRole('link', { name: 'Saved filters' }).click()
  await page.getByRole('button', { name: 'Rename Waiting' }).click()
  await page.getByRole('dialog').getByLabel('Name').fill('Waiting for me')
  await page.keyboard.press('Enter')
  await page.getByRole('row', { name: 'Waiting for me Inbox You' }).waitFor()
  await page.getByRole('button', { name: 'Delete Waiting for me' }).click()
  await page.getByText('Waiting for me is deleted').waitFor()
})

test('business hours are kept: an office week first, times of one day changed, an overlap said beside its day', async () => {
  const { page } = await demo.open('settings/hours')
  const isKept = page.getByRole('switch', { name: /Tell agents/ })
  const save = page.getByRole('region', { name: 'When people are there' }).getByRole('button', { name: 'Save' })
  await isKept.check({ force: true })
  await page.getByRole('combobox', { name: 'Time zone' }).fill('Sao_Paulo')
  await page.getByRole('option', { name: 'America/Sao_Paulo' }).click()
  await page.getByLabel('Monday: end of time 1').fill('12:00')
  await page.getByRole('button', { name: 'Monday: add a time' }).click()
  await page.getByText('Fill in start and end.').waitFor()
  await page.getByLabel('Monday: start of time 2').fill('11:00')
  await page.getByLabel('Monday: end of time 2').fill('00:00')
  await page.getByText('These times overlap.').waitFor()
  assert.equal(await save.isDisabled(), true)
  await page.getByLabel('Monday: start of time 2').fill('13:00')
  await page.getByRole('button', { name: 'Friday: remove time 1' }).click()
  await page.getByRole('group', { name: 'Friday' }).getByText('Nobody').waitFor()
  await assertAccessible(page)
  await save.click()
  await page.getByText('Saved', { exact: true }).waitFor()

  await page.reload()
  const end = page.getByLabel('Monday: end of time 2')
  await end.waitFor()
  assert.equal(await end.inputValue(), '00:00')
  const { workspace } = await demo.team('GET', `/workspaces/${demo.workspaceId}`)
  const { timeZone, week } = workspace.hours
  assert.equal(timeZone, 'America/Sao_Paulo')
  const monday = [
    { from: '09:00', to: '12:00' },
    { from: '13:00', to: '24:00' },
  ]
  assert.deepEqual([week.monday, week.tuesday, week.friday], [monday, [{ from: '09:00', to: '18:00' }], []])
  await isKept.uncheck({ force: true })
  await save.click()
  await page.getByText('Saved', { exact: true }).waitFor()
  assert.equal((await demo.team('GET', `/workspaces/${demo.workspaceId}`)).workspace.hours, null)
})

test('the audit log is told in words, searched, and given as a file', async () => {
  await demo.team('POST', `/workspaces/${demo.workspaceId}/labels`, { name: 'Urgent', color: 'red' })
  const { page } = await demo.open('settings/audit')
  const filters = page.getByRole('search', { name: 'Filters' })
  await page.getByRole('row', { name: /created a label Urgent/ }).waitFor()
  await pickOption(filters.getByRole('combobox', { name: 'What' }), { name: 'Labels' })
  await page
    .getByRole('row', { name: /API key/ })
    .first()
    .waitFor({ state: 'detached' })
  await page.getByRole('row', { name: /created a label Urgent/ }).waitFor()
  const lines = await downloadedLines(page, () => page.getByRole('button', { name: 'CSV' }).click())
  assert.equal(lines[0], '"When","Who","What","About","Action","Target"')
  assert.ok(lines.slice(1).every((line) => line.includes('"label.')))
  await filters.getByLabel('Until').fill('2020-01-01')
  await page.getByText('Nothing matches the filter.').waitFor()
  await filters.getByLabel('Until').fill('')
  await filters.getByRole('combobox', { name: 'Who' }).fill('itself')
  await page.getByRole('option', { name: 'Parley itself' }).click()
  await page.getByText('Nothing matches the filter.').waitFor()
  await assertAccessible(page)
})

test('the link of an invitation is copied again', async () => {
  const { url } = await demo.team('POST', `/workspaces/${demo.workspaceId}/invitations`, {
    email: 'again@example.com',
    role: 'member',
  })
  const { page } = await demo.open('settings/members')
  await page.getByRole('button', { name: 'Copy link of the invitation for again@example.com' }).click()
  const panel = page.getByRole('dialog', { name: 'The invitation for again@example.com' })
  assert.equal(await panel.getByRole('textbox', { name: 'Invitation link' }).inputValue(), url)
})
