import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { field, newWriter, until } from './support/composing.ts'
import { sharedDemo } from './support/demo.ts'

const demo = await sharedDemo()
const inboxPath = `/workspaces/${demo.workspaceId}/inbox/conversations`
const conversation = async (id: string) => (await demo.team('GET', `${inboxPath}/${id}`)).conversation

// E resolves, U marks as unread, and a space presses what has the focus.
const sentence = 'be true, use euros'

async function opensWhile(page: Page, glob: string, act: () => Promise<void>): Promise<void> {
  // Opening it reads it, and what is typed is not to undo that.
  const id = new URL(page.url()).pathname.split('/').at(-1) ?? ''
  await until(() => conversation(id), { unreadCount: 0 })
  const { promise: later, resolve: go } = Promise.withResolvers<void>()
  await page.route(glob, async (route) => {
    await later
    await route.continue()
  })
  await page.reload()
  await field(page).waitFor()
  await page.keyboard.press('h')
  await act()
  go()
}

test('H puts the caret into the field at once, however late the agents come', async () => {
  const vera = await newWriter(demo, 'Vera Luz', 'Hello')
  const { page } = await demo.open(vera.place)
  const summary = page.getByRole('dialog').getByLabel('What should it know?')
  await opensWhile(page, '**/keys', async () => {
    await summary.waitFor()
    await summary.and(page.locator(':focus')).waitFor()
    await page.keyboard.type(sentence)
  })
  await page.getByRole('combobox', { name: 'Agent' }).and(page.locator(':enabled')).waitFor()
  await page.keyboard.type('.')
  assert.equal(await summary.inputValue(), `${sentence}.`)
  const { status, unreadCount, labelIds } = await conversation(vera.id)
  assert.deepEqual([status, unreadCount, labelIds], ['open', 0, []])
})

test('no shortcut acts behind a dialog, wherever the focus is', async () => {
  const rui = await newWriter(demo, 'Rui Costa', 'Hello')
  const { page } = await demo.open(rui.place)
  await field(page).waitFor()
  await page.keyboard.press('h')
  await page.getByRole('dialog').getByLabel('What should it know?').waitFor()
  await page.evaluate('document.activeElement.blur()')
  await page.keyboard.type('e?')
  await page.keyboard.press('Control+k')
  assert.equal(await page.getByRole('dialog').count(), 1)
  assert.equal((await conversation(rui.id)).status, 'open')
})
