import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../../server/src/base/clock.ts'
import { openKeyStore } from '../../server/src/base/encryption/key-store.ts'
import { handOver } from '../../server/src/inbox/assignment/hand-over.ts'
import { openFolderStore } from '../../server/src/media/store/folder-store.ts'
import { fakePlatform } from '../../server/test/support/channels/fake-platform.ts'
import { newFolder } from '../../server/test/support/folder.ts'
import { sendDeps } from '../../server/test/support/inbox/send-deps.ts'
import { assertAccessible } from './support/accessibility.ts'
import { field, newWriter, thread, waitUntil } from './support/composing.ts'
import { sharedDemo } from './support/demo.ts'
import { customerCalled, waitForAll } from './support/inbox.ts'

const demo = await sharedDemo()
const inboxPath = `/workspaces/${demo.workspaceId}/inbox/conversations`
const conversation = async (id: string) => (await demo.team('GET', `${inboxPath}/${id}`)).conversation

/** Hands over as an agent does through the API. */
async function handsOver(id: string): Promise<void> {
  const keyStore = openKeyStore(demo.db, { current: demo.masterKey }, systemClock)
  const deps = await sendDeps(demo.db, keyStore, systemClock, fakePlatform(), openFolderStore(await newFolder()))
  const [, keyId = ''] = (await conversation(id)).owner.split(':')
  const note = { summary: 'Wants the money back for order 1042.', reason: 'Refunds need a person.', nextStep: null }
  const agent = { workspaceId: demo.workspaceId, connectionIds: [], actor: { type: 'agent' as const, id: keyId } }
  await handOver(deps, agent, { conversationId: id, note, urgency: 'high', userId: null, closing: null })
}

test('a handover by an agent appears in the thread and as urgent in the list until a person answers', async () => {
  const ines = await newWriter(demo, 'Ines Prado', 'I want my money back', 'agent')
  await handsOver(ines.id)
  const { page } = await demo.open(ines.place)
  const card = thread(page).getByRole('region', { name: /to the team$/ })
  await card.getByText('Wants the money back for order 1042.').waitFor()
  await card.getByText('Refunds need a person.').waitFor()
  assert.equal(await thread(page).getByText('handed it over to the team').count(), 0, 'the card says so')
  const row = page.getByRole('link', { name: /Ines Prado/ })
  await row.getByText('Urgent').waitFor()
  await assertAccessible(page)

  await page.getByRole('textbox', { name: /^Reply to/ }).fill('I am on it.')
  await page.keyboard.press('Enter')
  await row.getByText('Urgent').waitFor({ state: 'detached' })
  await card.getByText('Wants the money back for order 1042.').waitFor()
})

test('H focuses the field at once, even if the agents load late', async () => {
  const vera = await newWriter(demo, 'Vera Luz', 'Hello')
  const { page } = await demo.open(vera.place)
  // Opening marks it as read, which typing must not undo.
  await waitUntil(() => conversation(vera.id), { unreadCount: 0 })
  const agents = Promise.withResolvers<void>()
  await page.route('**/keys', (route) => agents.promise.then(() => route.continue()))
  await page.reload()
  await field(page).waitFor()
  await page.keyboard.press('h')
  const summary = page.getByRole('dialog').getByLabel('What should the agent know?')
  await summary.and(page.locator(':focus')).waitFor()
  // E closes, U marks as unread, and Space presses the focused button.
  await page.keyboard.type('be true, use euros')
  agents.resolve()
  await page.getByRole('combobox', { name: 'Agent' }).and(page.locator(':enabled')).waitFor()
  assert.equal(await summary.inputValue(), 'be true, use euros')
  const { status, unreadCount, labelIds } = await conversation(vera.id)
  assert.deepEqual([status, unreadCount, labelIds], ['open', 0, []])
})

test('no shortcut works behind a dialog, wherever the focus is', async () => {
  const rui = await newWriter(demo, 'Rui Costa', 'Hello')
  const { page } = await demo.open(rui.place)
  await field(page).waitFor()
  await page.keyboard.press('h')
  await page.getByRole('dialog').getByLabel('What should the agent know?').waitFor()
  await page.evaluate('document.activeElement.blur()')
  await page.keyboard.type('e?')
  await page.keyboard.press('Control+k')
  assert.equal(await page.getByRole('dialog').count(), 1)
  assert.equal((await conversation(rui.id)).status, 'open')
})

test('while another app on the number answers, the conversation says so, until a person writes', async () => {
  const olga = await newWriter(demo, 'Olga Reis', 'Hello', 'human')
  const customer = await customerCalled(demo, 'Olga Reis')
  await demo.call('PATCH', `${demo.simulatorUrl}/simulator/customers/${customer.id}`, { answeredBy: 'ai_agent' })
  const { page } = await demo.open(olga.place)
  await customer.says('Do you open on Sunday?')
  await waitForAll(demo)
  const bar = page.getByRole('status').filter({ hasText: 'Another app on this number is answering this customer.' })
  await bar.waitFor()
  await thread(page).getByText('Do you open on Sunday?').waitFor()
  await assertAccessible(page)

  await page.getByRole('textbox', { name: /^Reply to/ }).fill('Yes, from 10 to 14.')
  await page.keyboard.press('Enter')
  await bar.waitFor({ state: 'detached' })
  await waitUntil(() => conversation(olga.id), { standbyFor: null })
})
