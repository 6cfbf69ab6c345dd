import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import type { Frame, Page } from 'playwright-core'
import { assertAccessible } from './support/accessibility.ts'
import { sharedDemo } from './support/demo.ts'

const demo = await sharedDemo()
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const conversationsPath = `/workspaces/${demo.workspaceId}/inbox/conversations`

/** Returns what axe reports in the chat. */
async function issuesOf(frame: Frame): Promise<string[]> {
  await frame.evaluate(axe)
  return frame.evaluate(async () => {
    const { violations } = await (
      globalThis as unknown as { axe: { run(): Promise<{ violations: Violation[] }> } }
    ).axe.run()
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
  })
}
interface Violation {
  id: string
  nodes: { html: string }[]
}

async function chatOf(page: Page): Promise<Frame> {
  const isChat = (frame: Frame) => frame.url().includes('/widget/frame/')
  const frame = page.frames().find(isChat) ?? (await page.waitForEvent('framenavigated', isChat))
  await frame.getByRole('textbox', { name: /message|mensagem/ }).waitFor()
  return frame
}

/** Connects a website as an admin does; returns its id. */
async function connect(): Promise<string> {
  const { page } = await demo.open('connections')
  await page.getByRole('button', { name: 'Add connection' }).click()
  const panel = page.getByRole('dialog')
  await panel.getByRole('button', { name: /A chat on your own site/ }).click()
  await panel.getByRole('textbox', { name: 'Name', exact: true }).fill('Casa Aurora')
  await assertAccessible(page)
  await panel.getByRole('button', { name: 'Add connection' }).click()
  const line = page.getByRole('textbox', { name: 'Line for your pages' })
  await line.waitFor()
  const id = /data-connection="([\w-]+)"/.exec(await line.inputValue())?.[1] ?? ''
  assert.ok(page.url().endsWith(id))
  await page.getByRole('button', { name: 'Preview' }).click()
  await chatOf(page)
  await page.getByRole('button', { name: 'Create a secret' }).click()
  await page.getByRole('textbox', { name: 'Identity secret' }).waitFor()
  await assertAccessible(page)
  return id
}

test('a visitor of a foreign site chats with the team in a frame that the site cannot reach', async () => {
  const id = await connect()
  const context = await demo.browser.newContext({ viewport: { width: 1200, height: 800 }, reducedMotion: 'reduce' })
  const page = await context.newPage()
  const failures: string[] = []
  page.on('pageerror', (error) => failures.push(error.message))
  await page.goto(`${demo.simulatorUrl}/site?connection=${id}`)
  const open = page.getByRole('button', { name: 'Open the chat' })
  await open.waitFor()
  assert.equal(await page.evaluate(() => localStorage.length), 0)
  await open.press('Enter')
  const chat = await chatOf(page)
  assert.equal(await chat.evaluate(() => localStorage.length), 0)
  assert.deepEqual(await issuesOf(chat), [])

  await chat.getByRole('textbox', { name: 'Name (optional)' }).fill('Lia <i>Moura</i>')
  await chat.getByRole('textbox', { name: 'Write a message' }).fill('Is the coffee fresh?')
  await page.keyboard.press('Enter')
  await chat.getByText('Sent', { exact: true }).waitFor()
  assert.deepEqual(await context.cookies(), [])
  const { conversations } = await demo.team('GET', `${conversationsPath}?view=all&limit=20`)
  const conversation = conversations.find(({ channel }: { channel: string }) => channel === 'website')
  const attack = '<img src=x onerror="document.title=1"> javascript:alert(1) https://example.com/a?b=1.'
  const answer = (body: object) =>
    demo.team('POST', `${conversationsPath}/${conversation.id}/messages`, body, {
      'idempotency-key': crypto.randomUUID(),
    })
  await answer({ kind: 'text', text: attack })
  await chat.getByText('<img src=x').waitFor()
  assert.deepEqual(
    await chat
      .locator('.log a')
      .evaluateAll((links) => links.map((link) => (link as unknown as { href: string }).href)),
    ['https://example.com/a?b=1'],
  )
  await answer({ kind: 'choices', choices: { text: 'Which one?', buttons: [{ title: 'Ground' }, { title: 'Beans' }] } })
  await chat.getByRole('button', { name: 'Beans' }).click()
  await chat.locator('.own').getByText('Beans').waitFor()
  assert.deepEqual(await issuesOf(chat), [])

  await page.keyboard.press('Escape')
  await answer({ kind: 'text', text: 'Roasted on Tuesday.' })
  await page.getByRole('button', { name: 'Open the chat: 1 unread' }).waitFor()
  await page.goto(`${demo.simulatorUrl}/site?connection=${id}&lang=pt`)
  await page.setViewportSize({ width: 390, height: 800 })
  await page.getByRole('button', { name: 'Abrir o chat: 1 não lidas' }).click()
  const again = await chatOf(page)
  await again.getByText('Roasted on Tuesday.').waitFor()
  assert.equal(await again.locator('[data-id]').count(), 5)
  assert.ok(await again.evaluate('document.documentElement.scrollWidth <= innerWidth'))
  assert.deepEqual(await issuesOf(again), [])
  assert.deepEqual(failures, [])
  await context.close()
})

test('a site that is not listed cannot show the chat', async () => {
  const { connection } = await demo.team('POST', `/workspaces/${demo.workspaceId}/connections`, {
    ...{ channel: 'website', name: 'Elsewhere', widget: { origins: ['https://elsewhere.example'] } },
  })
  const context = await demo.browser.newContext()
  const page = await context.newPage()
  await page.goto(`${demo.simulatorUrl}/site?connection=${connection.id}`)
  await page.getByRole('button', { name: 'Open the chat' }).click()
  await page.waitForTimeout(500)
  const frame = page.frames().at(-1)
  assert.equal(await frame?.getByRole('textbox').count(), 0)
  await context.close()
})
