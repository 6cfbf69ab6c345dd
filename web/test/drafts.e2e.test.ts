import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertAccessible } from './support/accessibility.ts'
import { newWriter, thread } from './support/composing.ts'
import { sharedDemo } from './support/demo.ts'

const demo = await sharedDemo()
const keysPath = `/workspaces/${demo.workspaceId}/keys`
const approval = { always: true, outsideHours: false, firstAnswers: false, labelIds: [], amountFrom: null }

/** A key whose answers need approval, and a conversation that it owns. */
async function draftingAgent(name: string, customer: string) {
  const created = await demo.team('POST', keysPath, {
    name,
    scopes: ['inbox.read', 'inbox.write'],
    answersNewConversations: false,
    approval,
  })
  const writer = await newWriter(demo, customer, 'Where is my order?')
  const path = `/workspaces/${demo.workspaceId}/inbox/conversations/${writer.id}/hand-back`
  await demo.team('POST', path, { keyId: created.key.id })
  const call = async (tool: string, body: object) => {
    const answer = await fetch(`${demo.url}/api/v2/conversations/${writer.id}/${tool}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${created.value}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    return answer.json()
  }
  return { writer, call }
}

test('a person sends, edits and rejects what an agent proposes', async () => {
  const { writer, call } = await draftingAgent('Careful agent', 'Lia Moura')
  const { page } = await demo.open(writer.place)
  await page
    .getByRole('button', { name: /^Take over/ })
    .first()
    .waitFor()
  await call('answer', { text: 'It left this morning.' })
  const draft = page.getByRole('region', { name: 'Draft from Careful agent' })
  await draft.getByText('It left this morning.').waitFor()
  await page
    .getByRole('link', { name: /Lia Moura/ })
    .getByText('To approve')
    .waitFor()
  await assertAccessible(page)

  await page.keyboard.press('d')
  await draft.getByLabel('What should be different?').fill('Name the day')
  await page.keyboard.press('Enter')
  await draft.waitFor({ state: 'detached' })

  await call('answer', { text: 'It left on Monday.' })
  await draft.getByText('It left on Monday.').waitFor()
  await page.keyboard.press('i')
  await draft.getByRole('textbox', { name: 'Text of the draft' }).fill('It left on Tuesday.')
  await page.keyboard.press('Control+Enter')
  await draft.waitFor({ state: 'detached' })
  await thread(page).getByText('It left on Tuesday.').waitFor()

  await call('answer', { text: 'Anything else?' })
  await draft.getByText('Anything else?').waitFor()
  await page.keyboard.press('y')
  await thread(page).getByText('Anything else?').waitFor()
  await draft.waitFor({ state: 'detached' })
  assert.equal(
    await thread(page)
      .getByText(/edited and sent a draft from Careful agent/)
      .count(),
    1,
  )
})

test('an admin chooses which answers of a key need approval', async () => {
  const { page } = await demo.open('/keys')
  await page
    .getByRole('button', { name: /^Support agent|agent/i })
    .first()
    .click()
  const panel = page.getByRole('dialog')
  const group = panel.getByRole('radiogroup', { name: 'Answers that a person must approve' })
  await group.getByLabel('Only some').check()
  await panel.getByLabel('The first answer of a conversation').check()
  // The first is that of the limits, the last that of the tools.
  await panel.getByRole('button', { name: 'Save' }).nth(1).click()
  await page.getByText('Approval saved').waitFor()
  await assertAccessible(page)
})
