import assert from 'node:assert/strict'
import { test } from 'node:test'
import { waitUntil } from './support/composing.ts'
import { sharedDemo } from './support/demo.ts'

const demo = await sharedDemo()

test('the limits of a key are set in its panel, and cleared to the defaults', async () => {
  const newKey = { name: 'Limited', scopes: ['inbox.read', 'inbox.write'] }
  const { key } = await demo.team('POST', `/workspaces/${demo.workspaceId}/keys`, newKey)
  const { page } = await demo.open('keys')
  await page.getByRole('button', { name: 'Limited' }).click()
  const limits = page.getByRole('dialog').getByRole('group', { name: 'Sending limits' })
  const keyNow = async () => (await demo.team('GET', `/workspaces/${demo.workspaceId}/keys/${key.id}`)).key
  await limits.getByLabel('Unanswered messages').fill('5')
  await limits.getByLabel('Messages per day').fill('200')
  await limits.getByRole('button', { name: 'Save' }).click()
  await waitUntil(keyNow, { unansweredSends: 5, dailySends: 200 })
  await limits.getByLabel('Unanswered messages').fill('')
  await limits.getByLabel('Unanswered messages').press('Enter')
  await waitUntil(keyNow, { unansweredSends: null, dailySends: 200 })
  await limits.getByLabel('Seconds of silence').fill('0')
  await limits.getByLabel('Parts of a text').fill('2')
  await limits.getByRole('button', { name: 'Save' }).click()
  await waitUntil(keyNow, { quietSeconds: 0, maxParts: 2 })
})

test('a key is renamed and gets other permissions, and shows its latest calls', async () => {
  const { page } = await demo.open('keys')
  const sync = { name: 'Sync', scopes: ['leads.read'] }
  const { value } = await demo.team('POST', `/workspaces/${demo.workspaceId}/keys`, sync)
  const call = (path: string) => demo.call('GET', path, undefined, { authorization: `Bearer ${value}` })
  assert.equal((await call('/api/v1/leads?search=private')).status, 200)
  assert.equal((await call('/api/v1/inbox/conversations')).status, 401)
  await page.reload()
  await page.getByRole('button', { name: 'Sync' }).click()
  const panel = page.getByRole('dialog')
  await panel.getByRole('row', { name: /GET \/api\/v1\/inbox\/conversations 401/ }).waitFor()
  await panel.getByRole('row', { name: /GET \/api\/v1\/leads 200/ }).waitFor()
  assert.equal(await panel.getByText('private').count(), 0)
  await panel.getByRole('button', { name: 'Edit' }).click()
  const edit = page.getByRole('dialog', { name: 'Edit Sync' })
  await edit.getByLabel('Name').fill('Sync with the shop')
  await edit.getByRole('checkbox', { name: /Read conversations/ }).check()
  await edit.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('dialog', { name: 'Sync with the shop' }).waitFor()
  assert.equal((await call('/api/v1/inbox/conversations')).status, 200)
})
