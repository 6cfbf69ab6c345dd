import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { newId } from '../../server/src/base/id.ts'
import { assertAccessible, fitsPhone } from './support/accessibility.ts'
import { newWriter, waitUntil } from './support/composing.ts'
import { sharedDemo } from './support/demo.ts'

const demo = await sharedDemo()
const workspace = `/workspaces/${demo.workspaceId}`

/** An agent that has answered a customer, before a person took over; and a review of it that waits. */
async function takenOverAgent(name: string, customer: string) {
  const scopes = ['inbox.read', 'inbox.write']
  const { key, value } = await demo.team('POST', `${workspace}/keys`, { name, scopes, answersNewConversations: false })
  const writer = await newWriter(demo, customer, 'Where is my order?')
  const path = `${workspace}/inbox/conversations/${writer.id}`
  await demo.team('POST', `${path}/hand-back`, { keyId: key.id })
  const answered = await fetch(`${demo.url}/api/v2/conversations/${writer.id}/answer`, {
    method: 'POST',
    headers: { authorization: `Bearer ${value}`, 'content-type': 'application/json' },
    body: JSON.stringify({ text: 'It left this morning.' }),
  })
  assert.equal(answered.status, 200)
  await demo.team('POST', `${path}/take-over`, {})
  const now = new Date()
  await demo.db.sql`
    insert into reviews (
      workspace_id, id, conversation_id, key_id, case_id, outcome, reasons, ended_at, status, created_at
    )
    values (
      ${demo.workspaceId}, ${newId(now)}, ${writer.id}, ${key.id}, ${randomUUID()}, 'taken_over', ${['takeover']}, ${now},
      'waiting', ${now}
    )`
  return { keyId: key.id as string, writer }
}

test('a person scores a conversation with number keys, and its agent has a result', async () => {
  await takenOverAgent('Scored agent', 'Rita Prado')
  const { page } = await demo.open('review')
  await page.getByRole('button', { name: /Rita Prado/ }).click()
  const log = page.getByRole('log')
  await log.getByText('It left this morning.').waitFor()
  const card = page.getByRole('complementary', { name: 'Scorecard' })
  await card.getByText('Solved the request').waitFor()
  await assertAccessible(page)
  for (const key of ['5', '4', '3']) await page.keyboard.press(key)
  await card.getByRole('checkbox', { name: 'Tone' }).check()
  await card.getByLabel('Comment').fill('Too short.')
  await page.keyboard.press('Control+Enter')
  await page.getByText('Review saved.').waitFor()
  await page.getByText('Reviewed', { exact: true }).click()
  await page.getByRole('button', { name: /Rita Prado/ }).click()
  await card.getByRole('radio', { name: '4' }).nth(1).isChecked()
  assert.equal(await card.getByLabel('Comment').inputValue(), 'Too short.')
  await fitsPhone(page)

  await page.setViewportSize({ width: 1440, height: 900 })
  await page.getByRole('link', { name: 'Results' }).click()
  const row = page.getByRole('table', { name: 'Scores' }).getByRole('row', { name: /Scored agent/ })
  await row.getByText('75%').waitFor()
  await page.getByRole('figure', { name: 'What was wrong with Scored agent' }).getByText('Tone').waitFor()
  await assertAccessible(page)
  await fitsPhone(page)
})

test('numbers have a definition, the conversations they count, and a comparison', async () => {
  const { keyId } = await takenOverAgent('Counted agent', 'Nina Castro')
  const { page } = await demo.open(`review/numbers?key=${keyId}`)
  const name = 'Taken over after an answer'
  const figure = page.locator('dl > div', { hasText: name })
  await figure.getByText('1 of 1').waitFor()
  await figure.getByRole('button', { name: `What is “${name}”?` }).click()
  await figure.getByText(/^A person took the conversation/).waitFor()
  await assertAccessible(page)
  await figure.getByRole('button', { name: `${name}: 100%` }).click()
  const link = page.getByRole('dialog').getByRole('link', { name: 'Nina Castro' })
  await link.waitFor()
  await page.keyboard.press('Escape')
  await link.waitFor({ state: 'detached' })
  await page.getByRole('combobox', { name: 'Compare with' }).click()
  await page.getByRole('option', { name: 'Previous period' }).click()
  await page.waitForURL(/with=before/)
  await figure.getByText('1 of 1').waitFor()
  await fitsPhone(page)
})

test('an admin sets rules and the scorecard', async () => {
  const own = await demo.newWorkspace()
  const { page } = await own.open('review')
  await page.getByRole('button', { name: 'Set the rules' }).click()
  await page.getByLabel('Random share').fill('5')
  await page.getByRole('checkbox', { name: 'Opened again within 72 hours' }).check()
  await page.getByRole('region', { name: 'What is reviewed' }).getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved.').first().waitFor()
  await page.getByRole('button', { name: 'Add criterion' }).click()
  await page.getByRole('textbox', { name: 'Criterion 4' }).fill('Names the day')
  await page.getByRole('region', { name: 'Scorecard' }).getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved.').first().waitFor()
  await assertAccessible(page)
  await page.reload()
  assert.equal(await page.getByRole('textbox', { name: 'Criterion 4' }).inputValue(), 'Names the day')
  const settings = await own.team('GET', `/workspaces/${own.workspaceId}/review-settings`)
  assert.deepEqual([settings.rules[0].randomPerMille, settings.rules[0].reopened], [50, true])
  assert.deepEqual(settings.criteria[0], { id: 'solved', name: null, steps: 5 })
  await fitsPhone(page)
})

test('a report shows numbers with definitions and what they count, for one source too, and is saved', async () => {
  const countLeads = async () => (await demo.team('GET', `${workspace}/reports`)).counts.leads.now as number
  await waitUntil(countLeads, (count) => count > 0)
  const { page } = await demo.open('reports')
  const figure = page.locator('dl > div', { hasText: 'New leads' })
  await figure.getByRole('button', { name: 'What is “New leads”?' }).click()
  await figure.getByText(/^Leads that were created in the period/).waitFor()
  await figure.getByRole('button', { name: /^New leads: \d/ }).click()
  const link = page.getByRole('dialog').getByRole('link').first()
  await link.waitFor()
  await assertAccessible(page)
  await page.keyboard.press('Escape')
  await link.waitFor({ state: 'detached' })
  const groups = page.getByRole('region', { name: 'Numbers by' })
  await groups.getByRole('combobox', { name: 'Group by' }).click()
  await page.getByRole('option', { name: 'Lead source' }).click()
  await groups.getByRole('row').nth(1).getByRole('button').first().click()
  await page.waitForURL(/dimension=source/)
  await page.getByRole('button', { name: 'Show everything' }).waitFor()
  await page.getByRole('button', { name: 'Save this report' }).click()
  await page.getByLabel('Name').fill('By source')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByRole('table', { name: 'Saved reports' }).getByText('By source').waitFor()
  await page.getByRole('button', { name: 'Show everything' }).click()
  await page.waitForURL(/^(?!.*dimension=)/)
  await page.getByRole('button', { name: 'By source', exact: true }).click()
  await page.waitForURL(/dimension=source/)
  await assertAccessible(page)
  await fitsPhone(page)
})
