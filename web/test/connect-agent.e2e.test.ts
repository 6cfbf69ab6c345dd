import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client'
import { program, redirectUri } from '../../server/test/auth/oauth/oauth-world.ts'
import { textOf } from '../../server/test/support/agents/mcp-client.ts'
import { atEnd } from '../../server/test/support/file-lifecycle.ts'
import { assertAccessible, issuesInSchemes } from './support/accessibility.ts'
import { phone } from './support/browser.ts'
import { sharedDemo } from './support/demo.ts'

const demo = await sharedDemo()
const run = promisify(execFile)

test('an agent gets a key, its command is copied and run, and the page says that it is connected', async () => {
  const { page } = await demo.open('keys')
  await page.getByRole('link', { name: 'Connect an agent' }).click()
  await page.getByText('This address works on this computer only').waitFor()
  await page.getByRole('radiogroup', { name: 'App' }).getByText('curl').click()
  const command = page.getByRole('textbox', { name: /^Run this command/ })
  assert.match(await command.inputValue(), /YOUR_KEY/)
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Agent of curl')
  await page.getByRole('button', { name: 'Create key' }).click()
  await page.getByText('Agent of curl is filled in below').waitFor()
  await page.getByText('Waiting for the first call').waitFor()

  const { stdout } = await run('sh', ['-c', `${await command.inputValue()} --silent`])
  assert.equal(JSON.parse(stdout).key.name, 'Agent of curl')
  await page.getByRole('status').filter({ hasText: 'Connected: who_am_i' }).waitFor()
  await assertAccessible(page)
})

test('each app gets its steps with the address and the key', async () => {
  const { page } = await demo.open('keys/connect')
  await page.getByRole('textbox', { name: /^Enter a name and this address/ }).waitFor()
  for (const [app, words] of [
    ['ChatGPT', 'Developer mode'],
    ['n8n', 'MCP Client Tool'],
    ['LangChain', 'MCPAdapter'],
    ['Vercel AI SDK', 'createMCPClient'],
    ['OpenAI Agents SDK', 'MCPServerStreamableHttp'],
  ] as const) {
    await page.getByRole('radiogroup', { name: 'App' }).getByText(app, { exact: true }).click()
    await page.getByText(words).first().waitFor()
    assert.ok((await page.locator('main').innerHTML()).includes(`${demo.url}/mcp`), app)
  }
})

test('a person allows the official client less than it asked for, sees its key, and revokes it', async () => {
  const { provider, stored } = program()
  const connect = () => new StreamableHTTPClientTransport(new URL(`${demo.url}/mcp`), { authProvider: provider })
  const client = new Client({ name: 'tests', version: '1' })
  atEnd(() => client.close())
  await assert.rejects(client.connect(connect()), UnauthorizedError)

  const { page: waiting } = await demo.open('keys/connect')
  await waiting.getByText('Waiting for you to allow access').waitFor()
  const { page } = await demo.open('home')
  await page.route(`${redirectUri}**`, (route) => route.fulfill({ body: 'Connected' }))
  await page.goto(String(stored.sentTo))
  await page.getByRole('heading', { name: 'Give Claude access?' }).waitFor()
  await page.getByText('app.example.com', { exact: true }).waitFor()
  assert.deepEqual(await issuesInSchemes(page), [])
  await page.getByRole('textbox', { name: 'Name' }).fill('Claude of the demo')
  await page.getByRole('checkbox', { name: 'Create and update leads' }).uncheck()
  assert.equal(await page.getByRole('checkbox', { name: 'A person approves its answers' }).isChecked(), true)
  await page.getByRole('button', { name: 'Allow' }).focus()
  await page.keyboard.press('Enter')
  await page.waitForURL(`${redirectUri}?**`)

  const transport = connect()
  await transport.finishAuth(new URL(page.url()).searchParams)
  await client.connect(transport)
  const me = textOf(await client.callTool({ name: 'who_am_i' }))
  assert.deepEqual(
    [me.key.name, me.key.scopes, me.limits.needs_approval],
    ['Claude of the demo', ['leads.read', 'inbox.read', 'inbox.write', 'knowledge.read'], 'always'],
  )
  await waiting.getByRole('status').filter({ hasText: 'Connected: ' }).waitFor()
  await page.goto(`${demo.url}/w/${demo.workspaceId}/keys`)
  await page.getByRole('button', { name: 'Claude of the demo' }).click()
  const panel = page.getByRole('dialog')
  await panel.getByText('app.example.com').waitFor()
  assert.equal(await panel.getByRole('button', { name: 'Rotate' }).count(), 0)
  await panel.getByRole('button', { name: 'Revoke' }).click()
  const ask = page.getByRole('dialog', { name: /^Revoke/ })
  await ask.getByRole('textbox').fill('Claude of the demo')
  await ask.getByRole('button', { name: 'Revoke' }).click()
  await page.getByText('Claude of the demo revoked').waitFor()
  await assert.rejects(client.callTool({ name: 'who_am_i' }))
})

for (const [language, heading] of [
  ['en', 'Give Claude access?'],
  ['pt', 'Dar acesso a Claude?'],
  ['es', '¿Dar acceso a Claude?'],
] as const) {
  test(`the consent page fits a phone, in ${language}, and an invalid request leads nowhere by itself`, async () => {
    const { provider, stored } = program()
    const transport = new StreamableHTTPClientTransport(new URL(`${demo.url}/mcp`), { authProvider: provider })
    await assert.rejects(new Client({ name: 'tests', version: '1' }).connect(transport), UnauthorizedError)
    const { page } = await demo.open('home', { viewport: phone, language })
    await page.goto(String(stored.sentTo))
    await page.getByRole('heading', { name: heading }).waitFor()
    await assertAccessible(page)
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), phone.width)
    stored.sentTo.searchParams.set('code_challenge_method', 'plain')
    await page.goto(String(stored.sentTo))
    await page.getByText('code_challenge_method S256 is required').waitFor()
    await assertAccessible(page)
    assert.ok(page.url().startsWith(demo.url))
  })
}
