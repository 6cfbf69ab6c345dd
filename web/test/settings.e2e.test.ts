import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { issuesInEachLook, openDemo, picture, seriousIssues, signedOut, visitOf } from './support/demo.ts'

const demo = await openDemo()
const password = 'four plain words together'

const sections = [
  'workspace',
  'hours',
  'members',
  'labels',
  'replies',
  'filters',
  'agents',
  'tokens',
  'retention',
  'audit',
  'workspaces',
  'about',
]

test('the settings of the workspace are changed and kept', async () => {
  const { page, problems } = await demo.open('settings')
  await page.getByLabel('Name').fill('Acme Sales')
  await page.getByLabel('New leads per day', { exact: true }).fill('500')
  await page.getByRole('switch', { name: /Create a lead for everyone/ }).check({ force: true })
  await page.getByLabel('New status').fill('In Review')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Move In review up' }).click()
  await page.getByRole('button', { name: 'Remove Unqualified' }).click()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved', { exact: true }).waitFor()

  await page.reload()
  await page.getByRole('list', { name: 'Lead statuses' }).waitFor()
  assert.equal(await page.getByLabel('Name').inputValue(), 'Acme Sales')
  assert.equal(await page.getByRole('switch', { name: /Create a lead for everyone/ }).isChecked(), true)
  const { workspace } = await demo.team('GET', `/workspaces/${demo.workspaceId}`)
  assert.equal(workspace.dailyLeadQuota, 500)
  assert.deepEqual(workspace.leadStatuses.slice(-3), ['won', 'lost', 'in_review'])
  assert.deepEqual(problems, [])
})

test('what the service refuses is said beside the field, and nothing typed is lost', async () => {
  const { page } = await demo.open('settings/workspace')
  await page.getByLabel('Name').fill(' ')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Fill this in.').waitFor()
  await page.getByLabel('Name').fill('Acme Sales')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved', { exact: true }).waitFor()
})

test('a person is invited, joins in a browser of their own, gets another role and is removed', async () => {
  const { page, problems } = await demo.open('settings/members')
  await page.getByRole('button', { name: 'Invite a person' }).click()
  const panel = page.getByRole('dialog')
  await panel.getByLabel('E-mail').fill('bea@example.com')
  await panel.getByRole('button', { name: 'Create the link' }).click()
  const link = await panel.getByRole('textbox', { name: 'Invitation link' }).inputValue()
  await picture(page, 'settings-invited')
  await panel.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('table', { name: 'Open invitations' }).getByText('bea@example.com').waitFor()

  const { page: hers } = await visitOf(demo.browser, {})
  await hers.goto(link)
  await picture(hers, 'invite-light')
  assert.deepEqual(await seriousIssues(hers), [])
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
  const ask = page.getByRole('dialog', { name: 'Remove Bea Costa from the workspace?' })
  await ask.getByLabel('Type Bea Costa to confirm').fill('Bea Costa')
  await ask.getByRole('button', { name: 'Remove' }).click()
  await page.getByText('Bea Costa is no longer a member').waitFor()
  await hers.goto(demo.url)
  await hers.getByText('No workspace yet').waitFor()
  assert.deepEqual(problems, [])
})

/** What somebody sees who may not set things up. */
async function asPlainMember(page: Page): Promise<void> {
  await page.goto(`${demo.url}/w/${demo.workspaceId}/settings`)
  await page.getByText('Only admins and owners can change this.').waitFor()
  assert.equal(await page.getByLabel('Name').isDisabled(), true)
  assert.equal(await page.getByRole('link', { name: 'Audit log' }).count(), 0)
  await page.goto(`${demo.url}/w/${demo.workspaceId}/settings/tokens`)
  await page.getByText('Your role does not allow this.').waitFor()
  await picture(page, 'settings-denied')
  assert.deepEqual(await seriousIssues(page), [])
  await page.getByRole('link', { name: 'Labels' }).click()
  await page.getByRole('heading', { name: 'Labels' }).waitFor()
  assert.equal(await page.getByRole('button', { name: 'New label' }).count(), 0)
}

test('whoever removes somebody sees what they made, and decides about it in the same step', async () => {
  const { page, problems } = await demo.open('settings/members')
  const { call, userId } = await joined('Davi Reis', 'admin')
  const path = `/api/team/v1/workspaces/${demo.workspaceId}`
  const { key, value } = await call('POST', `${path}/keys`, { name: 'Shop robot', scopes: ['leads.read'] })
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
  await picture(page, 'settings-remove')
  assert.deepEqual(await seriousIssues(page), [])
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
  assert.equal((await demo.team('GET', `/workspaces/${demo.workspaceId}/keys/${key.id}`)).key.createdBy, userId)
  await page.goto(`${demo.url}/w/${demo.workspaceId}/keys`)
  await page.getByRole('button', { name: 'Shop robot' }).click()
  await page.getByRole('dialog').getByText('A former member').waitFor()
  assert.deepEqual(problems, [])
})

test('an owner signs somebody out everywhere', async () => {
  const { page, problems } = await demo.open('settings/members')
  const { page: theirs } = await joined('Gabi Luz', 'member')
  await page.reload()
  await page.getByRole('button', { name: 'Sign Gabi Luz out everywhere' }).click()
  const ask = page.getByRole('dialog', { name: 'Sign Gabi Luz out everywhere?' })
  await picture(page, 'settings-sign-out')
  assert.deepEqual(await seriousIssues(page), [])
  await ask.getByRole('button', { name: 'Sign out everywhere' }).click()
  await page.getByText('Gabi Luz is signed out everywhere').waitFor()
  await signedOut(theirs)
  assert.deepEqual(problems, [])
})

test('the ceiling of new leads is an operator’s to set, and an admin is told of it', async () => {
  const { page } = await demo.open('settings/workspace')
  await page.getByLabel('New leads per day', { exact: true }).fill('800')
  await page.getByLabel('Maximum new leads per day').fill('900')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved', { exact: true }).waitFor()
  const { page: admins } = await joined('Hugo Paz', 'admin')
  await admins.goto(`${demo.url}/w/${demo.workspaceId}/settings/workspace`)
  await admins.getByText('At most 900').waitFor()
  assert.equal(await admins.getByLabel('Maximum new leads per day').count(), 0)
  const { workspace } = await demo.team('GET', `/workspaces/${demo.workspaceId}`)
  assert.deepEqual([workspace.dailyLeadQuota, workspace.dailyLeadQuotaCeiling], [800, 900])
})

/** A person of the workspace in a browser of their own, and how that browser calls the service. */
async function joined(name: string, role: string) {
  const email = `${name.split(' ')[0]?.toLowerCase()}@example.com`
  const { url } = await demo.team('POST', `/workspaces/${demo.workspaceId}/invitations`, { email, role })
  const { page } = await visitOf(demo.browser, {})
  await page.goto(url)
  await page.getByLabel('Your name').fill(name)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Join' }).click()
  await page.getByRole('navigation', { name: 'Main' }).waitFor()
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape; a test fails where one is wrong
  const call = (method: string, path: string, body?: object): Promise<any> =>
    page.evaluate(
      async ([verb, address, json]) => {
        const { csrfToken } = (await (await fetch('/api/team/v1/session')).json()) as { csrfToken: string }
        const headers = { 'content-type': 'application/json', 'x-parley-csrf': csrfToken }
        return (await fetch(address ?? '', { method: verb ?? '', headers, ...(json ? { body: json } : {}) })).json()
      },
      [method, path, body === undefined ? '' : JSON.stringify(body)] as const,
    )
  const { members } = await demo.team('GET', `/workspaces/${demo.workspaceId}/members`)
  const { userId } = members.find((one: { email: string }) => one.email === email)
  return { page, call, userId: userId as string }
}

test('the palette goes to a section by its name', async () => {
  const { page, problems } = await demo.open('home')
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').fill('audit')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Audit log' }).waitFor()
  assert.deepEqual(problems, [])
})

test('the last owner stays one, and the page says why', async () => {
  const { page } = await demo.open('settings/members')
  const role = page.getByRole('combobox', { name: 'Role of Demo Owner' })
  await role.click()
  await page.getByRole('option', { name: 'Member' }).click()
  await page.getByText('A workspace needs an owner.').waitFor()
  assert.equal(await role.inputValue(), 'Owner')
})

test('a label is made, changed and deleted', async () => {
  const { page, problems } = await demo.open('settings/labels')
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
  const ask = page.getByRole('dialog', { name: 'Delete the label Newspapers?' })
  await ask.getByLabel(/^Type/).fill('Newspapers')
  await ask.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('row', { name: 'Newspapers Teal' }).waitFor({ state: 'detached' })
  assert.deepEqual(problems, [])
})

test('a canned reply is written, refused for a placeholder nobody fills, deleted and brought back', async () => {
  const { page, problems } = await demo.open('settings/replies')
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
  assert.deepEqual(problems, [])
})

test('the stop switch stops every agent after a typed word, and lets them again', async () => {
  const { page, problems } = await demo.open('settings/agents')
  await page.getByRole('button', { name: 'Stop all agents' }).click()
  const ask = page.getByRole('dialog', { name: 'Stop all agents?' })
  const stop = ask.getByRole('button', { name: 'Stop all agents' })
  assert.equal(await stop.isDisabled(), true)
  await ask.getByLabel('Type STOP to confirm').fill('STOP')
  await picture(page, 'settings-stop')
  await stop.click()
  await page.getByText('All agents are stopped. People answer every conversation.').waitFor()
  await picture(page, 'settings-stopped')
  const stopped = async () => (await demo.team('GET', `/workspaces/${demo.workspaceId}`)).workspace.agentsStopped
  assert.equal(await stopped(), true)
  await page.getByRole('link', { name: 'Home' }).click()
  await page.getByRole('link', { name: /All agents are stopped/ }).click()
  await page.getByRole('button', { name: 'Let agents answer again' }).click()
  await page.getByText('Agents may answer customers.').waitFor()
  assert.equal(await stopped(), false)
  assert.deepEqual(problems, [])
})

test('the watchdog is set in minutes', async () => {
  const { page } = await demo.open('settings/agents')
  const minutes = page.getByLabel('After how many minutes')
  const isOn = page.getByRole('switch', { name: /Give a conversation to people/ })
  await isOn.check({ force: true })
  await minutes.fill('45')
  await page.getByRole('region', { name: 'Watchdog' }).getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved', { exact: true }).waitFor()
  await page.reload()
  await minutes.waitFor()
  assert.equal(await minutes.inputValue(), '45')
})

test('that agents take back only what is handed to them is switched on, and kept', async () => {
  const { page } = await demo.open('settings/agents')
  const leaves = () => page.getByRole('switch', { name: /leave it alone until/ })
  await leaves().click({ force: true })
  await page.getByText('Saved', { exact: true }).waitFor()
  await page.reload()
  await leaves().waitFor({ state: 'attached' })
  assert.equal(await leaves().isChecked(), true)
  const { workspace } = await demo.team('GET', `/workspaces/${demo.workspaceId}`)
  assert.equal(workspace.agentsMayTakeBack, 'when_handed')
})

test('a team token is shown once, works, and is revoked', async () => {
  const { page, problems } = await demo.open('settings/tokens')
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
  const ask = page.getByRole('dialog', { name: 'Revoke Nightly export?' })
  await ask.getByLabel(/^Type/).fill('Nightly export')
  await ask.getByRole('button', { name: 'Revoke' }).click()
  await page.getByText('Nightly export is revoked').waitFor()
  assert.equal(await status(), 401)
  assert.deepEqual(problems, [])
})

test('a saved filter is renamed and deleted', async () => {
  const { page, problems } = await demo.open('settings/labels')
  await page.evaluate(async (workspaceId) => {
    const { csrfToken } = (await (await fetch('/api/team/v1/session')).json()) as { csrfToken: string }
    await fetch(`/api/team/v1/workspaces/${workspaceId}/saved-filters`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-parley-csrf': csrfToken },
      body: JSON.stringify({ page: 'inbox', name: 'Waiting', query: 'view=mine' }),
    })
  }, demo.workspaceId)
  await page.getByRole('link', { name: 'Saved filters' }).click()
  await page.getByRole('button', { name: 'Rename Waiting' }).click()
  await page.getByRole('dialog').getByLabel('Name').fill('Waiting for me')
  await page.keyboard.press('Enter')
  await page.getByRole('row', { name: 'Waiting for me Inbox You' }).waitFor()
  await page.getByRole('button', { name: 'Delete Waiting for me' }).click()
  await page.getByText('Waiting for me is deleted').waitFor()
  assert.deepEqual(problems, [])
})

test('every section is usable without eyes or a mouse, in both schemes and on a phone', async () => {
  const { page, problems } = await demo.open('settings')
  await page.getByRole('navigation', { name: 'Sections of the settings' }).waitFor()
  assert.deepEqual(await issuesInEachLook(page, 'settings'), [])
  for (const section of sections) {
    await page.goto(`${demo.url}/w/${demo.workspaceId}/settings/${section}`)
    await page.getByRole('heading', { level: 2 }).first().waitFor()
    await page.locator('[aria-busy]').waitFor({ state: 'detached' })
    assert.deepEqual(await issuesInEachLook(page, `settings-${section}`), [])
  }
  assert.deepEqual(problems, [])
})
