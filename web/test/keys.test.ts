import assert from 'node:assert/strict'
import { test } from 'node:test'
import { issuesInSchemes, openDemo, phone, picture } from './support/demo.ts'

const demo = await openDemo()

test('a key is made, shown once, works from the shell, gets a new value and is revoked', async () => {
  const { page, problems } = await demo.open('keys')
  await page.getByRole('button', { name: 'New key' }).click()
  const panel = page.getByRole('dialog')
  await panel.getByRole('button', { name: 'New key' }).click()
  await panel.getByText('Fill this in.').waitFor()
  await panel.getByLabel('Name').fill('Website agent')
  assert.equal(await panel.getByRole('checkbox', { checked: true }).count(), 0, 'nothing is chosen beforehand')
  await panel.getByRole('radio', { name: 'Answering chats' }).check()
  const answersNew = panel.getByRole('switch', { name: 'Answers new conversations' })
  assert.equal(await answersNew.isChecked(), true)
  await picture(page, 'keys-new')
  await panel.getByRole('radio', { name: 'Syncing leads' }).check()
  await answersNew.waitFor({ state: 'detached' })
  assert.equal(await panel.getByRole('checkbox', { name: /Upsert leads in bulk/ }).isChecked(), true)
  await panel.getByRole('button', { name: 'New key' }).click()

  const shown = page.getByRole('dialog', { name: 'The key of Website agent' })
  const value = await shown.getByRole('textbox', { name: 'Value' }).inputValue()
  const line = await shown.getByRole('textbox', { name: 'Command' }).inputValue()
  assert.ok(line.includes(value))
  await picture(page, 'keys-value')
  const works = async (key: string) =>
    (await demo.call('GET', '/api/v1/leads?limit=5', undefined, { authorization: `Bearer ${key}` })).status
  assert.equal(await works(value), 200)
  await page.keyboard.press('Escape')
  await shown.getByRole('button', { name: 'I have saved it' }).click()

  await page.getByRole('button', { name: 'Website agent' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click()
  const ask = page.getByRole('dialog', { name: 'Rotate the key?' })
  await ask.getByLabel('The old value stays valid for').click()
  await page.getByRole('option', { name: 'No time' }).click()
  await ask.getByRole('button', { name: 'Rotate' }).click()
  const second = await shown.getByRole('textbox', { name: 'Value' }).inputValue()
  assert.deepEqual([await works(value), await works(second)], [401, 200])
  await shown.getByRole('button', { name: 'I have saved it' }).click()

  await page.getByRole('button', { name: 'Website agent' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
  const confirm = page.getByRole('dialog', { name: 'Revoke Website agent?' })
  assert.equal(await confirm.getByRole('button', { name: 'Revoke' }).isDisabled(), true)
  await confirm.getByLabel('Type Website agent to confirm').fill('Website agent')
  await confirm.getByRole('button', { name: 'Revoke' }).click()
  await page.getByRole('row', { name: /Website agent Revoked/ }).waitFor()
  assert.equal(await works(second), 401)
  assert.deepEqual(problems, [])
})

test('which key gets new conversations is shown with its number, and changed with a switch', async () => {
  const { page, problems } = await demo.open('keys')
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
  await picture(page, 'keys-answers-new')
  await page.keyboard.press('Escape')
  const { keys } = await demo.team('GET', `/workspaces/${demo.workspaceId}/keys`)
  const key = keys.find(({ name }: { name: string }) => name === 'Support agent')
  assert.equal(key.answersNewConversations, false)
  assert.deepEqual(problems, [])

  const connections = await demo.open('connections')
  await connections.page.getByRole('row').nth(1).getByRole('button').first().click()
  await connections.page.getByText('New conversations go to', { exact: true }).waitFor()
  await connections.page.getByText(/go to the key "Demo key", which has never been used/).waitFor()
  await picture(connections.page, 'connection-new-go-to')
})

test('what a key may send is set in its panel, and emptied to the usual', async () => {
  const { page, problems } = await demo.open('keys')
  await page.getByRole('button', { name: 'Demo key' }).click()
  const panel = page.getByRole('dialog')
  const limits = panel.getByRole('group', { name: 'What it may send' })
  const save = limits.getByRole('button', { name: 'Save' })
  assert.equal(await save.isDisabled(), true)
  const keyNow = async () => {
    const { keys } = await demo.team('GET', `/workspaces/${demo.workspaceId}/keys`)
    const key = keys.find(({ name }: { name: string }) => name === 'Demo key')
    return [key.unansweredSends, key.dailySends]
  }
  const saved = () => page.waitForResponse((answer) => answer.request().method() === 'PATCH')
  await limits.getByLabel('Messages without an answer').fill('5')
  await limits.getByLabel('Messages a day').fill('200')
  let answered = saved()
  await save.click()
  assert.equal((await answered).status(), 200)
  assert.deepEqual(await keyNow(), [5, 200])
  await picture(page, 'keys-limits')
  await limits.getByLabel('Messages without an answer').fill('')
  answered = saved()
  await limits.getByLabel('Messages without an answer').press('Enter')
  assert.equal((await answered).status(), 200)
  assert.deepEqual(await keyNow(), [null, 200])
  assert.deepEqual(problems, [])
  assert.deepEqual(await issuesInSchemes(page, 'keys-limits'), [])
})

test('the page of keys is usable without eyes or a mouse, in both schemes and on a phone', async () => {
  for (const options of [{}, { viewport: phone }]) {
    const { page } = await demo.open('keys', options)
    await page.getByRole('table').waitFor()
    assert.deepEqual(await issuesInSchemes(page, 'keys'), [])
    await page.keyboard.press('c')
    await page.getByRole('dialog').waitFor()
    assert.deepEqual(await issuesInSchemes(page, 'keys-new'), [])
  }
})
