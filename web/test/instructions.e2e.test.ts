import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertAccessible } from './support/accessibility.ts'
import { sharedDemo } from './support/demo.ts'

const demo = await sharedDemo()
const workspace = `/workspaces/${demo.workspaceId}`

/** What a key reads with who_am_i. */
async function readInstructions(value: string) {
  const answer = await fetch(`${demo.url}/api/v2/me`, { headers: { authorization: `Bearer ${value}` } })
  const { instructions } = (await answer.json()) as { instructions: Record<string, unknown> }
  return instructions
}

const newKey = (name: string) =>
  demo.team('POST', `${workspace}/keys`, {
    name,
    scopes: ['inbox.read', 'inbox.write'],
    answersNewConversations: false,
  })

test('an admin writes a draft, previews and publishes it, and restores the version before', async () => {
  const { key, value } = await newKey('Instructed agent')
  const { page } = await demo.open(`settings/instructions?key=${key.id}`)
  const text = page.getByLabel('For this agent')
  const publish = async (words: string) => {
    await text.fill(words)
    await page.getByRole('button', { name: 'Publish', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Note').fill(`Because of ${words.length}`)
    await dialog.getByRole('button', { name: 'Publish', exact: true }).click()
    await dialog.waitFor({ state: 'detached' })
  }
  await text.fill('Answer orders only.')
  await page.getByRole('button', { name: 'Save draft' }).click()
  await page.getByText(/saved the draft on/).waitFor()
  assert.equal((await readInstructions(value)).key, null, 'agents do not see a draft')
  await page.getByRole('button', { name: 'Preview' }).click()
  const preview = page.getByRole('dialog', { name: 'What agents would receive' })
  await preview.getByText('Answer orders only.').first().waitFor()
  await assertAccessible(page)
  await page.keyboard.press('Escape')

  await publish('Answer orders only.')
  await page.getByText('Version 1 is in force.').waitFor()
  assert.deepEqual((await readInstructions(value)).key, { version: 1, text: 'Answer orders only.' })
  await publish('Answer orders and returns.')
  await page.getByText('Version 2 is in force.').waitFor()

  await page.getByRole('button', { name: 'Compare version 2' }).click()
  const changes = page.getByRole('region', { name: 'Changes' })
  assert.deepEqual(await changes.locator('del').allTextContents(), ['only.'])
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Restore version 1' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Restore', exact: true }).click()
  await page.getByText('Version 3 is in force.').waitFor()
  await page.getByText('Restores version 1').waitFor()
  assert.deepEqual((await readInstructions(value)).key, { version: 3, text: 'Answer orders only.' })
  await assertAccessible(page)
})

test('an open page shows what another admin does, and keeps what is being written', async () => {
  const { key } = await newKey('Shared agent')
  const { page } = await demo.open(`settings/instructions?key=${key.id}`)
  const text = page.getByLabel('For this agent')
  const scope = { keyId: key.id, connectionId: null, note: null, basedOn: 0 }
  await text.waitFor()
  const { draft } = await demo.team('PUT', `${workspace}/instructions/draft`, {
    ...scope,
    text: 'Theirs.',
    revision: null,
  })
  await page.getByText(/saved the draft on/).waitFor()
  assert.equal(await text.inputValue(), 'Theirs.')
  await text.fill('Mine.')
  await demo.team('PUT', `${workspace}/instructions/draft`, {
    ...scope,
    text: 'Theirs, again.',
    revision: draft.revision,
  })
  await page.getByText(/changed this draft while you were writing/).waitFor()
  assert.equal(await text.inputValue(), 'Mine.')
  await assertAccessible(page)
  await page.getByRole('button', { name: 'Keep my text' }).click()
  await page.getByRole('button', { name: 'Save draft' }).click()
  await page.getByText('Draft saved').waitFor()
  const { draft: saved } = await demo.team('GET', `${workspace}/instructions/versions?keyId=${key.id}`)
  assert.deepEqual([saved.text, saved.revision], ['Mine.', 3])
})

test('tools of a key are switched off in its panel, whose history says so', async () => {
  await newKey('Tooled agent')
  const { page } = await demo.open('keys')
  await page.getByRole('table').getByRole('button', { name: 'Tooled agent' }).click()
  const panel = page.getByRole('dialog', { name: 'Tooled agent' })
  await panel.getByRole('checkbox', { name: 'start_conversation' }).uncheck()
  await panel.getByRole('group', { name: 'Tools' }).first().getByRole('button', { name: 'Save' }).click()
  await page.getByText('Tools saved').waitFor()
  await panel.getByText('Tools switched off: None → start_conversation').waitFor()
  await panel.getByRole('button', { name: 'What it receives' }).click()
  await page.getByText('Exact answers').waitFor()
  await assertAccessible(page)
})
