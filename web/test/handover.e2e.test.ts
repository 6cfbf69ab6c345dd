import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../../server/src/base/clock.ts'
import { openVault } from '../../server/src/base/sealing/vault.ts'
import { handOver } from '../../server/src/inbox/ownership/hand-over.ts'
import { openFolderStore } from '../../server/src/media/store/folder-store.ts'
import { fakePlatform } from '../../server/test/support/channels/fake-platform.ts'
import { newFolder } from '../../server/test/support/folder.ts'
import { sendDeps } from '../../server/test/support/inbox/send-deps.ts'
import { assertAccessible } from './support/accessibility.ts'
import { pickOption } from './support/actions.ts'
import { newWriter, thread, until } from './support/composing.ts'
import { sharedDemo } from './support/demo.ts'

const demo = await sharedDemo()
const inboxPath = `/workspaces/${demo.workspaceId}/inbox/conversations`
const conversation = async (id: string) => (await demo.team('GET', `${inboxPath}/${id}`)).conversation

/** As an agent does through the interface for agents. */
async function handsOver(id: string): Promise<void> {
  const vault = openVault(demo.db, { current: demo.masterKey }, systemClock)
  const deps = await sendDeps(demo.db, vault, systemClock, fakePlatform(), openFolderStore(await newFolder()))
  const [, keyId = ''] = (await conversation(id)).owner.split(':')
  const words = { summary: 'Wants the money back for order 1042.', reason: 'Refunds need a person.', nextStep: null }
  const agent = { workspaceId: demo.workspaceId, connectionIds: [], actor: { type: 'agent' as const, id: keyId } }
  await handOver(deps, agent, { conversationId: id, words, urgency: 'high', userId: null, closing: null })
}

test('what an agent hands over stands in the thread and is urgent in the list, until somebody answers', async () => {
  const ines = await newWriter(demo, 'Ines Prado', 'I want my money back', 'agent')
  await handsOver(ines.id)
  const { page } = await demo.open(ines.place)
  const card = thread(page).getByRole('region', { name: /to the team$/ })
  await card.getByText('Wants the money back for order 1042.').waitFor()
  await card.getByText('Refunds need a person.').waitFor()
  assert.equal(await thread(page).getByText('handed it to the team').count(), 0, 'the card says so')
  const row = page.getByRole('link', { name: /Ines Prado/ })
  await row.getByText('Urgent').waitFor()
  await assertAccessible(page)

  await page.getByRole('textbox', { name: /^Reply to/ }).fill('I am on it.')
  await page.keyboard.press('Enter')
  await row.getByText('Urgent').waitFor({ state: 'detached' })
  await card.getByText('Wants the money back for order 1042.').waitFor()
})

test('a member hands on with a note and a next step, or offers it to whichever agent takes it', async () => {
  const olga = await newWriter(demo, 'Olga Reis', 'Hello')
  const { page } = await demo.open(olga.place)
  await page.getByRole('button', { name: 'Hand back' }).click()
  const ask = page.getByRole('dialog')
  await ask.getByLabel('What should it know?').fill('Price agreed.')
  await ask.getByLabel('What should it do next?').fill('Ask for the address.')
  await pickOption(ask.getByRole('combobox', { name: 'Agent' }), { name: 'Any agent' })
  await ask.getByText('It stays with the team until an agent takes it.').waitFor()
  await assertAccessible(page)
  await ask.getByRole('button', { name: 'Offer to agents' }).click()
  const card = thread(page).getByRole('region', { name: /offered it to agents$/ })
  await card.getByText('Ask for the address.').waitFor()
  const { owner, held } = await until(() => conversation(olga.id), { held: false })
  assert.deepEqual([owner, held], ['human', false])
})
