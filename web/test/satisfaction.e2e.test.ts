import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { newId } from '../../server/src/base/id.ts'
import { assertAccessible, fitsPhone } from './support/accessibility.ts'
import { newWriter } from './support/composing.ts'
import { newMember, openDemo } from './support/demo.ts'

const demo = await openDemo()
const settings = `/workspaces/${demo.workspaceId}/satisfaction-settings`

/** Stores what the customer of a conversation has answered. */
async function addRating(conversationId: string, score: number): Promise<void> {
  const now = new Date()
  await demo.db.sql`
    insert into satisfaction_ratings (
      workspace_id, id, conversation_id, connection_id, closing_id, status, answered_by, scale, score, created_at, asked_at,
      rated_at
    )
    select workspace_id, ${newId(now)}, id, connection_id, ${randomUUID()}, 'rated', 'user', 5, ${score}, ${now}, ${now},
      ${now}
    from conversations
    where workspace_id = ${demo.workspaceId}
      and id = ${conversationId}`
}

test('an admin switches the question on, and a template that cannot ask is refused at its field', async () => {
  const { page } = await demo.open('settings/satisfaction')
  await page.getByText('No ratings yet').waitFor()
  const form = page.getByRole('main')
  await form.getByRole('switch', { name: 'Ask how satisfied customers are' }).check()
  await form.getByRole('radio', { name: 'Three faces' }).check()
  assert.equal(await form.getByRole('textbox', { name: 'Button' }).count(), 0, 'faces are buttons themselves')
  const template = form.getByRole('textbox', { name: 'Template outside the 24-hour window' })
  await template.fill('how_was_it')
  await form.getByRole('textbox', { name: 'Language of the template' }).fill('en_US')
  await form.getByRole('button', { name: 'Save' }).click()
  await form.getByText('Choose an approved template in this language').waitFor()
  assert.equal((await demo.team('GET', settings)).isEnabled, false)
  await assertAccessible(page)
  await template.fill('')
  await form.getByRole('textbox', { name: 'Minutes after closing' }).fill('1')
  await form.getByRole('textbox', { name: 'Minutes after closing' }).blur()
  assert.equal(await form.getByRole('textbox', { name: 'Minutes after closing' }).inputValue(), '2', 'at least')
  await form.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved', { exact: true }).waitFor()
  const { isEnabled, scale, waitMinutes, template: stored } = await demo.team('GET', settings)
  assert.deepEqual([isEnabled, scale, waitMinutes, stored], [true, 3, 2, null])
  await fitsPhone(page)
})

test('a rating is in the list, and above its conversation; members cannot change the settings', async () => {
  const writer = await newWriter(demo, 'Lia Nunes', 'Thank you!')
  await addRating(writer.id, 4)
  const { page } = await newMember(demo, 'Ivo Reis')
  await page.goto(`${demo.url}/w/${demo.workspaceId}/settings/satisfaction`)
  const table = page.getByRole('table', { name: 'Ratings' })
  await table
    .getByRole('row', { name: /Lia Nunes/ })
    .getByText('4 of 5')
    .waitFor()
  assert.ok(await page.getByRole('switch', { name: 'Ask how satisfied customers are' }).isDisabled())
  assert.equal(await page.getByRole('button', { name: 'Save' }).count(), 0)
  await page.getByRole('combobox', { name: 'Score' }).click()
  await page.getByRole('option', { name: '1', exact: true }).click()
  await page.getByText('No ratings yet').waitFor()
  await assertAccessible(page)
  await page.goto(`${demo.url}/w/${demo.workspaceId}/${writer.place}`)
  await page.getByRole('region', { name: 'Follow-ups' }).getByText('Rated 4 of 5').waitFor()
  await assertAccessible(page)
})

test('the question is proposed in the language of who switches it on', async () => {
  const workspace = await demo.newWorkspace()
  const { page } = await workspace.open('settings/satisfaction', { language: 'pt' })
  await page.getByRole('textbox', { name: 'Pergunta', exact: true }).waitFor()
  assert.equal(
    await page.getByRole('textbox', { name: 'Pergunta', exact: true }).inputValue(),
    'Qual é a sua satisfação com o nosso atendimento?',
  )
})
