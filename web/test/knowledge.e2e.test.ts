import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertAccessible } from './support/accessibility.ts'
import { field, newWriter, thread } from './support/composing.ts'
import { sharedDemo } from './support/demo.ts'

const demo = await sharedDemo()
const workspace = `/workspaces/${demo.workspaceId}`

test('an article is written, published and found, and its versions show what has changed', async () => {
  const { page } = await demo.open('knowledge')
  await page.keyboard.press('c')
  await page.getByRole('textbox', { name: 'Title' }).fill('Do you repair bicycles?')
  await page.getByRole('textbox', { name: 'Text' }).fill('Yes, within **two days**.\n\n- Bring it\n- Collect it')
  const preview = page.getByRole('region', { name: 'Preview' })
  assert.equal(await preview.locator('strong').innerText(), 'two days')
  assert.equal(await preview.getByRole('listitem').count(), 2)
  await page.getByRole('button', { name: 'Publish' }).click()
  await page.getByText('Version 1').waitFor()
  await page.getByRole('textbox', { name: 'Text' }).fill('Yes, within **three days**.')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByRole('button', { name: /^Version 2/ }).click()
  await page.locator('ins').filter({ hasText: 'three' }).waitFor()
  await page.locator('del').filter({ hasText: 'two' }).first().waitFor()
  await assertAccessible(page)
  await page.getByRole('link', { name: /^Back/ }).click()
  await page.getByRole('searchbox', { name: 'Search knowledge' }).fill('repairing a bicycle')
  await page.getByRole('button', { name: 'Do you repair bicycles?' }).waitFor()
})

test('a person inserts an answer into a reply by keyboard', async () => {
  const writer = await newWriter(demo, 'Nina Prado', 'When can I come?')
  const { page } = await demo.open(writer.place)
  await field(page).fill('Hi Nina, ')
  await page.keyboard.press('Control+j')
  const search = page.getByRole('dialog', { name: 'Search knowledge' })
  await search.getByRole('combobox').fill('open')
  await search.getByRole('option', { name: /When are you open/ }).waitFor()
  await assertAccessible(page)
  await page.keyboard.press('Enter')
  await search.waitFor({ state: 'detached' })
  assert.equal(await field(page).inputValue(), 'Hi Nina, We are open from Monday to Friday, from 9 to 18.')
})

test('an article is made of a resolved conversation, and published beside it', async () => {
  const writer = await newWriter(demo, 'Otto Reis', 'Can I pay in three rates, Otto asks?')
  await demo.team('POST', `${workspace}/inbox/conversations/${writer.id}/take-over`, {})
  const { page } = await demo.open(writer.place)
  await field(page).fill('Yes, up to six.')
  await page.keyboard.press('Enter')
  await thread(page).getByText('Yes, up to six.').waitFor()
  await demo.team('PATCH', `${workspace}/inbox/conversations/${writer.id}`, { status: 'resolved' })
  await page.getByRole('button', { name: 'Make an article of this conversation' }).click()
  const side = page.getByRole('region', { name: 'Conversation', exact: true })
  await side.getByText('Otto asks').waitFor()
  assert.equal(await page.getByRole('textbox', { name: 'Title' }).inputValue(), 'Can I pay in three rates, *** asks?')
  await assertAccessible(page)
  await page.getByRole('textbox', { name: 'Title' }).fill('Can I pay in instalments?')
  await page.getByRole('textbox', { name: 'Text' }).fill('Yes, in up to six.')
  await page.getByRole('button', { name: 'Publish' }).click()
  await page.getByRole('button', { name: 'Can I pay in instalments?' }).waitFor()
})

test('what an answer is based on opens as it was then', async () => {
  const scopes = ['inbox.read', 'inbox.write', 'knowledge.read']
  const created = await demo.team('POST', `${workspace}/keys`, { name: 'Citing agent', scopes })
  const about = { kind: 'article', language: 'en', title: 'Gift cards', body: 'Valid for a year.', status: 'published' }
  const { article } = await demo.team('POST', `${workspace}/knowledge/articles`, about)
  const writer = await newWriter(demo, 'Ruth Melo', 'How long is a gift card valid?')
  await demo.team('POST', `${workspace}/inbox/conversations/${writer.id}/hand-back`, { keyId: created.key.id })
  await fetch(`${demo.url}/api/v2/conversations/${writer.id}/answer`, {
    method: 'POST',
    headers: { authorization: `Bearer ${created.value}`, 'content-type': 'application/json' },
    body: JSON.stringify({ text: 'For a year.', sources: [{ article_id: article.id, version: 1 }] }),
  })
  await demo.team('PATCH', `${workspace}/knowledge/articles/${article.id}`, {
    version: 1,
    body: 'Valid for two years.',
  })
  const { page } = await demo.open(writer.place)
  await thread(page).getByRole('link', { name: 'Gift cards' }).click()
  await page.getByRole('button', { name: /^Version 1/, pressed: true }).waitFor()
  await page.getByText('Valid for a year.').waitFor()
})
