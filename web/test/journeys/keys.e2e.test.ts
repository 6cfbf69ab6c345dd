import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pickOption } from '../support/actions.ts'
import { sharedDemo } from '../support/demo.ts'

const demo = await sharedDemo()

test('a key is created, shown once, used from the shell, rotated and revoked', async () => {
  const { page } = await demo.open('keys')
  await page.getByRole('button', { name: 'New API key' }).click()
  const panel = page.getByRole('dialog')
  await panel.getByRole('button', { name: 'Create', exact: true }).click()
  await panel.getByText('Fill in this field.').waitFor()
  await panel.getByLabel('Name').fill('Website agent')
  assert.equal(await panel.getByRole('checkbox', { checked: true }).count(), 0, 'nothing is chosen beforehand')
  await panel.getByRole('radio', { name: 'Reply to chats' }).check()
  const answersNew = panel.getByRole('switch', { name: 'Reply to new conversations' })
  assert.equal(await answersNew.isChecked(), true)
  await panel.getByRole('radio', { name: 'Sync leads' }).check()
  await answersNew.waitFor({ state: 'detached' })
  assert.equal(await panel.getByRole('checkbox', { name: /Upsert leads in bulk/ }).isChecked(), true)
  await panel.getByRole('button', { name: 'Create', exact: true }).click()

  const shown = page.getByRole('dialog', { name: 'API key for Website agent' })
  const value = await shown.getByRole('textbox', { name: 'Value' }).inputValue()
  const line = await shown.getByRole('textbox', { name: 'Command' }).inputValue()
  assert.ok(line.includes(value))
  const works = async (key: string) =>
    (await demo.call('GET', '/api/v1/leads?limit=5', undefined, { authorization: `Bearer ${key}` })).status
  assert.equal(await works(value), 200)
  await page.keyboard.press('Escape')
  await shown.getByRole('button', { name: 'I saved it' }).click()

  await page.getByRole('button', { name: 'Website agent' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click()
  const ask = page.getByRole('dialog', { name: 'Rotate this key?' })
  await pickOption(ask.getByLabel('Old value expires'), { name: 'Now' })
  await ask.getByRole('button', { name: 'Rotate' }).click()
  const second = await shown.getByRole('textbox', { name: 'Value' }).inputValue()
  assert.deepEqual([await works(value), await works(second)], [401, 200])
  await shown.getByRole('button', { name: 'I saved it' }).click()

  await page.getByRole('button', { name: 'Website agent' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
  const confirm = page.getByRole('dialog', { name: 'Revoke Website agent?' })
  assert.equal(await confirm.getByRole('button', { name: 'Revoke' }).isDisabled(), true)
  await confirm.getByLabel('Type Website agent to confirm').fill('Website agent')
  await confirm.getByRole('button', { name: 'Revoke' }).click()
  await page.getByRole('row', { name: /Website agent Revoked/ }).waitFor()
  assert.equal(await works(second), 401)
})
