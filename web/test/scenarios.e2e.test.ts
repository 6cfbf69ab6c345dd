import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertAccessible, fitsPhone } from './support/accessibility.ts'
import { sharedDemo } from './support/demo.ts'

const demo = await (await sharedDemo()).newWorkspace()

/** Answers every customer of a sandbox with the same text, until the key stops working. */
async function answerAll(key: string, text: string): Promise<void> {
  const headers = { authorization: `Bearer ${key}` }
  for (let cursor = ''; ; ) {
    const { status, body } = await demo.call(
      'GET',
      `/api/v2/work?wait=2${cursor && `&cursor=${cursor}`}`,
      undefined,
      headers,
    )
    if (status !== 200) return
    for (const { conversation } of body.work) {
      await demo.call('POST', `/api/v2/conversations/${conversation.id}/answer`, { text }, headers)
    }
    cursor = body.next_cursor ?? cursor
  }
}

test('an admin adds the starter set, writes a scenario, and runs both against an agent', async () => {
  const { page } = await demo.open('scenarios')
  await page.getByRole('heading', { name: 'Try an agent before customers meet it' }).waitFor()
  await page.getByRole('button', { name: 'Add starter set' }).click()
  await page.getByText('30 scenarios added.').waitFor()
  await page.getByRole('table', { name: 'Scenarios' }).waitFor()
  await assertAccessible(page)

  await page.keyboard.press('c')
  const text = page.getByRole('textbox', { name: 'Text' })
  const scenario = { name: 'mine', title: 'Greets', script: ['Hello'], expect: { says: ['welcome'] } }
  await text.fill(JSON.stringify({ ...scenario, script: [{ say: 'Hello' }] }))
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText(/script\[0\]:/).waitFor()
  await text.fill(JSON.stringify(scenario))
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Scenario saved.').waitFor()

  await page.getByRole('checkbox', { name: 'Choose mine' }).check()
  await page.getByRole('checkbox', { name: 'Choose english' }).check()
  await page.getByRole('button', { name: 'Run 2 scenarios' }).click()
  await page.getByRole('textbox', { name: 'Agent' }).fill('greeter')
  await page.getByRole('button', { name: 'Start', exact: true }).click()
  const command = page.getByRole('textbox', { name: 'For 2 scenarios' })
  await command.waitFor()
  const [, key = ''] = /PARLEY_API_KEY=(\S+)/.exec(await command.inputValue()) ?? []
  const agent = answerAll(key, 'Yes, we ship to all of it.')
  await page.getByRole('button', { name: 'Go to the run' }).click()
  await page.getByText('1 passed · 1 failed').waitFor({ timeout: 60_000 })
  await page.getByText('Finished').waitFor()
  await page.getByText('says “welcome”').waitFor()
  await page.getByText('Found: Yes, we ship to all of it.').waitFor()
  await agent
  await assertAccessible(page)
  await fitsPhone(page)
  await page.getByRole('link', { name: 'Back: Scenarios' }).click()
  await page.getByRole('table', { name: 'Runs' }).getByRole('button', { name: 'greeter' }).waitFor()
})

test('a draft of instructions is tried before it is published', async () => {
  const { page } = await demo.open('settings/instructions')
  await page.getByLabel('For every agent in this workspace').fill('Answer in rhymes.')
  await page.getByRole('button', { name: 'Publish', exact: true }).click()
  await page.getByRole('button', { name: 'Run scenarios with it first' }).click()
  await page.getByText('Runs use your draft of the instructions.').waitFor()
  await page.getByRole('button', { name: /^Run \d+ scenarios$/ }).click()
  assert.equal(await page.getByRole('textbox', { name: 'Instructions' }).inputValue(), 'Answer in rhymes.')
})

test('a conversation opens as a scenario without its personal data', async () => {
  const shared = await sharedDemo()
  const { conversations } = await shared.team('GET', `/workspaces/${shared.workspaceId}/inbox/conversations?limit=1`)
  const [{ id, contact }] = conversations
  const { page } = await shared.open(`inbox/${id}`)
  await page.getByRole('link', { name: 'Make a scenario' }).click()
  const text = await page.getByRole('textbox', { name: 'Text' }).inputValue()
  assert.equal(JSON.parse(text).title, 'Made of a conversation')
  assert.ok(!text.includes(contact.name), 'the name is replaced')
})
