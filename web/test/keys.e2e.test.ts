import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertAccessible } from './support/accessibility.ts'
import { sharedDemo } from './support/demo.ts'

const demo = await sharedDemo()

test('which key gets new conversations is shown with its number, and changed with a switch', async () => {
  const { page } = await demo.open('keys')
  await page.getByRole('button', { name: 'New key' }).click()
  const panel = page.getByRole('dialog')
  await panel.getByLabel('Name').fill('Support agent')
  await panel.getByRole('radio', { name: 'Answering chats' }).check()
  await panel.getByRole('button', { name: 'New key' }).click()
  await page.getByRole('button', { name: 'I have saved it' }).click()

  await page.getByRole('button', { name: 'Support agent' }).click()
  const answersNew = page.getByRole('dialog').getByRole('switch', { name: 'Answers new conversations' })
  assert.equal(await answersNew.isChecked(), true)
  const changed = page.waitForResponse((answer) => answer.request().method() === 'PATCH')
  await answersNew.uncheck()
  assert.equal((await changed).status(), 200)
  await page.keyboard.press('Escape')
  const { keys } = await demo.team('GET', `/workspaces/${demo.workspaceId}/keys`)
  const key = keys.find(({ name }: { name: string }) => name === 'Support agent')
  assert.equal(key.answersNewConversations, false)

  const connections = await demo.open('connections')
  await connections.page.getByRole('row').nth(1).getByRole('button').first().click()
  await connections.page.getByText('New conversations go to', { exact: true }).waitFor()
  await connections.page
    .getByText(/go to the key "Demo key"/)
    .first()
    .waitFor()
})

test('what a key may send is set in its panel, and emptied to the usual', async () => {
  const newKey = { name: 'Limited', scopes: ['inbox.read', 'inbox.write'] }
  const { key } = await demo.team('POST', `/workspaces/${demo.workspaceId}/keys`, newKey)
  const { page } = await demo.open('keys')
  await page.getByRole('button', { name: 'Limited' }).click()
  const panel = page.getByRole('dialog')
  const limits = panel.getByRole('group', { name: 'What it may send' })
  const save = limits.getByRole('button', { name: 'Save' })
  assert.equal(await save.isDisabled(), true)
  const keyNow = async () => {
    const { key: now } = await demo.team('GET', `/workspaces/${demo.workspaceId}/keys/${key.id}`)
    return [now.unansweredSends, now.dailySends]
  }
  const saved = () => page.waitForResponse((answer) => answer.request().method() === 'PATCH')
  await limits.getByLabel('Messages without an answer').fill('5')
  await limits.getByLabel('Messages a day').fill('200')
  let answered = saved()
  await save.click()
  assert.equal((await answered).status(), 200)
  assert.deepEqual(await keyNow(), [5, 200])
  await limits.getByLabel('Messages without an answer').fill('')
  answered = saved()
  await limits.getByLabel('Messages without an answer').press('Enter')
  assert.equal((await answered).status(), 200)
  assert.deepEqual(await keyNow(), [null, 200])
  await assertAccessible(page)
})

test('what a key may send can be said when it is made, behind “Limits”', async () => {
  const { page } = await demo.open('keys')
  await page.getByRole('button', { name: 'New key' }).click()
  const panel = page.getByRole('dialog')
  await panel.getByLabel('Name', { exact: true }).fill('Careful agent')
  await panel.getByRole('radio', { name: 'Reading' }).check()
  assert.equal(await panel.getByText('Limits', { exact: true }).count(), 0, 'it sends nothing')
  await panel.getByRole('radio', { name: 'Answering chats' }).check()
  const unanswered = panel.getByLabel('Messages without an answer')
  assert.equal(await unanswered.isVisible(), false)
  await panel.getByText('Limits', { exact: true }).focus()
  await page.keyboard.press('Enter')
  await unanswered.fill('2')
  await panel.getByLabel('Messages a day').fill('40')
  await assertAccessible(page)
  await panel.getByRole('button', { name: 'New key' }).click()
  await page.getByRole('button', { name: 'I have saved it' }).click()
  const { keys } = await demo.team('GET', `/workspaces/${demo.workspaceId}/keys`)
  const key = keys.find(({ name }: { name: string }) => name === 'Careful agent')
  assert.deepEqual([key.unansweredSends, key.dailySends], [2, 40])
})

test('a key is renamed and re-scoped, and shows what it called last', async () => {
  const { page } = await demo.open('keys')
  const { key, value } = await demo.team('POST', `/workspaces/${demo.workspaceId}/keys`, {
    name: 'Sync',
    scopes: ['leads.read'],
  })
  const call = (path: string) => demo.call('GET', path, undefined, { authorization: `Bearer ${value}` })
  assert.equal((await call('/api/v1/leads?search=private')).status, 200)
  assert.equal((await call('/api/v1/inbox/conversations')).status, 401)
  await page.reload()
  await page.getByRole('button', { name: 'Sync' }).click()
  const panel = page.getByRole('dialog')
  await panel.getByRole('row', { name: /GET \/api\/v1\/inbox\/conversations 401/ }).waitFor()
  await panel.getByRole('row', { name: /GET \/api\/v1\/leads 200/ }).waitFor()
  assert.equal(await panel.getByText('private').count(), 0)
  await assertAccessible(page)

  await panel.getByRole('button', { name: 'Edit' }).click()
  const edit = page.getByRole('dialog', { name: 'Edit Sync' })
  await edit.getByLabel('Name').fill(' ')
  await edit.getByRole('button', { name: 'Save' }).click()
  await edit.getByLabel('Name').and(page.locator('[aria-invalid="true"]')).waitFor()
  await edit.getByLabel('Name').fill('Sync with the shop')
  await edit.getByRole('checkbox', { name: /Read conversations/ }).check()
  await assertAccessible(page)
  await edit.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('dialog', { name: 'Sync with the shop' }).waitFor()
  assert.equal((await call('/api/v1/inbox/conversations')).status, 200)
  const { key: changed } = await demo.team('GET', `/workspaces/${demo.workspaceId}/keys/${key.id}`)
  assert.deepEqual([changed.name, changed.scopes], ['Sync with the shop', ['leads.read', 'inbox.read']])
})
