import assert from 'node:assert/strict'
import { test } from 'node:test'
import { field, newWriter, thread, waitUntil } from '../support/composing.ts'
import { sharedDemo } from '../support/demo.ts'

const demo = await sharedDemo()
const inboxPath = `/workspaces/${demo.workspaceId}/inbox/conversations`
const agent = { authorization: `Bearer ${demo.apiKey}` }

test('a reply is sent once however often it is clicked, and its ticks progress', async () => {
  const rosa = await newWriter(demo, 'Rosa Prado', 'Do you open today?')
  const { page } = await demo.open(rosa.place)
  await field(page).waitFor()
  await page.keyboard.press('r')
  await page.keyboard.type('Until six.')
  await page.getByRole('button', { name: 'Send', exact: true }).dblclick()
  await thread(page).getByText('Until six.').waitFor()
  await thread(page).getByLabel('Read').or(thread(page).getByLabel('Delivered')).first().waitFor()
  assert.equal(await field(page).inputValue(), '')
  await field(page).press('a')
  await field(page).fill('And tomorrow')
  await field(page).press('Shift+Enter')
  await page.keyboard.type('from nine.')
  await field(page).press('Enter')
  await waitUntil(rosa.receivedMessages, { length: 2 })
  assert.deepEqual(await rosa.receivedMessages(), ['Until six.', 'And tomorrow\nfrom nine.'])
})

test('T takes over and blocks the agent, and H hands back with a note', async () => {
  const nuno = await newWriter(demo, 'Nuno Reis', 'Is this a robot?', 'agent')
  const { page } = await demo.open(nuno.place)
  await page.getByText(/^Handled by (?!your team)/).waitFor()
  assert.equal(await field(page).count(), 0)
  await page.keyboard.press('t')
  await page.getByText('Handled by your team', { exact: true }).waitFor()
  await field(page).waitFor()
  const first = await field(page).elementHandle()
  await page.keyboard.type('The caret is here.')
  const isSame = await field(page).evaluate((now, before) => now === before, first)
  const focused = await page.evaluate<string>('document.activeElement.outerHTML.slice(0, 200)')
  assert.deepEqual([await field(page).inputValue(), isSame], ['The caret is here.', true], `the focus is on ${focused}`)
  await page.keyboard.press('Escape')
  const send = () =>
    demo.call(
      'POST',
      `/api/v1/inbox/conversations/${nuno.id}/messages`,
      { kind: 'text', text: 'I am.' },
      { ...agent, 'idempotency-key': crypto.randomUUID() },
    )
  const mine = async () => (await demo.team('GET', `${inboxPath}/${nuno.id}`)).conversation.owner
  await waitUntil(mine, 'human')
  const refused = await send()
  assert.deepEqual([refused.status, refused.body.data.code], [409, 'OWNER_MISMATCH'])

  await page.keyboard.press('h')
  const ask = page.getByRole('dialog')
  await ask.getByLabel('What should the agent know?').fill('Wants the price list.')
  await ask.getByRole('button', { name: 'Hand back' }).click()
  await page.getByText(/^Handled by (?!your team)/).waitFor()
  await thread(page).getByText('Wants the price list.').waitFor()
  assert.equal((await send()).status, 202)
})
